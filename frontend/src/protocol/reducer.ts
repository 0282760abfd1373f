// The event reducer of section 11: frames in, the state of one answer out. Pure; the page and the widget share it.

import type { Frame, ToolStatus } from "./frames.ts";

export interface Chip {
  readonly id: string;
  readonly name: string;
  readonly status: "running" | ToolStatus;
}

export interface Block {
  readonly id: string;
  readonly text: string;
}

export type Outcome =
  | { readonly kind: "complete" }
  | { readonly kind: "stopped" } // by the visitor's own Stop
  | { readonly kind: "failed"; readonly code: string }
  | { readonly kind: "interrupted" }; // the stream ended without a terminal

export interface Answer {
  readonly blocks: readonly Block[];
  readonly thinking: string;
  readonly chips: readonly Chip[];
  readonly outcome: Outcome | null;
}

export type Phase = "waiting" | "thinking" | "tools" | "answering" | "ended";

export const EMPTY_ANSWER: Answer = { blocks: [], thinking: "", chips: [], outcome: null };

/** Applies one frame. Frames after the terminal and events it does not know change nothing. */
export function reduce(answer: Answer, frame: Frame): Answer {
  if (answer.outcome !== null) return answer;
  switch (frame.event) {
    case undefined:
      // Answer text is only a frame without an `event` key.
      if (typeof frame.chunk !== "string" || typeof frame.blockId !== "string") return answer;
      return { ...answer, blocks: withText(answer.blocks, frame.blockId, (text) => text + frame.chunk) };
    case "chunk_reset":
      return { ...answer, blocks: withText(answer.blocks, frame.blockId, () => "") };
    case "thinking":
      return { ...answer, thinking: answer.thinking + frame.data };
    case "tool":
      return { ...answer, chips: withTool(answer.chips, frame) };
    case "final":
      return frame.data.success
        ? settle(answer, { kind: "complete" }, "error")
        : settle(answer, { kind: "failed", code: frame.data.code ?? "" }, "error");
    case "error":
      return settle(answer, { kind: "failed", code: frame.code }, "error");
    case "stream_error":
      return answer; // Not terminal: the terminal says what the visitor reads.
    default:
      return answer;
  }
}

/** The connection ended without a terminal: keep the text, settle running chips as `error`. */
export function interrupt(answer: Answer): Answer {
  return answer.outcome === null ? settle(answer, { kind: "interrupted" }, "error") : answer;
}

/** The visitor pressed Stop: keep the text, settle running chips as `cancelled`. */
export function stop(answer: Answer): Answer {
  return answer.outcome === null ? settle(answer, { kind: "stopped" }, "cancelled") : answer;
}

/** What the answer is doing, as a function of its state alone: no view keeps flags of its own. */
export function phase(answer: Answer): Phase {
  if (answer.outcome !== null) return "ended";
  if (hasText(answer)) return "answering";
  if (answer.chips.some((chip) => chip.status === "running")) return "tools";
  if (answer.chips.length > 0) return "waiting";
  return answer.thinking === "" ? "waiting" : "thinking";
}

export function hasText(answer: Answer): boolean {
  return answer.blocks.some((block) => block.text !== "");
}

/** The answer as text: blocks in order of their first frame. */
export function plainText(answer: Answer): string {
  return answer.blocks
    .map((block) => block.text)
    .filter((text) => text !== "")
    .join("\n\n");
}

function withText(blocks: readonly Block[], id: string, change: (text: string) => string): readonly Block[] {
  const at = blocks.findIndex((block) => block.id === id);
  if (at < 0) return [...blocks, { id, text: change("") }];
  return blocks.map((block, index) => (index === at ? { id, text: change(block.text) } : block));
}

function withTool(chips: readonly Chip[], frame: Extract<Frame, { event: "tool" }>): readonly Chip[] {
  const known = chips.some((chip) => chip.id === frame.id);
  if (frame.phase === "start") {
    return known ? chips : [...chips, { id: frame.id, name: frame.name, status: "running" }];
  }
  const status = frame.status;
  if (status !== "success" && status !== "error" && status !== "cancelled") return chips;
  return chips.map((chip) => (chip.id === frame.id ? { ...chip, status } : chip));
}

function settle(answer: Answer, outcome: Outcome, open: ToolStatus): Answer {
  const chips = answer.chips.map((chip) => (chip.status === "running" ? { ...chip, status: open } : chip));
  return { ...answer, chips, outcome };
}
