// The frames of agent-events-v1, section 3, as a conforming client sees them. Unknown events are legal.

export type ToolStatus = "success" | "error" | "cancelled";

export type Frame =
  | { event?: undefined; blockId: string; chunk: string }
  | { event: "chunk_reset"; blockId: string }
  | { event: "thinking"; blockId: string; data: string }
  | { event: "tool"; blockId: string; phase: "start"; id: string; name: string }
  | { event: "tool"; blockId: string; phase: "end"; id: string; name: string; status: ToolStatus }
  | { event: "stream_error"; blockId: string; error: string }
  | { event: "final"; data: { success: boolean; error?: string; code?: string; executionId: string } }
  | { event: "error"; error: string; code: string };

/** What comes after the terminal frame, on every stream whose socket is still open. */
export const DONE = "[DONE]";

export const PROTOCOL_HEADER = "X-Studio-Stream-Protocol";
export const PROTOCOL = "agent-events-v1";
