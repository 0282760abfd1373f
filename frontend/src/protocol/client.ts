// The chat's HTTP endpoints (section 12) as three calls. Refusals come back as values, never as exceptions.

import { type Frame, PROTOCOL, PROTOCOL_HEADER } from "./frames.ts";
import { FrameReader } from "./reader.ts";

export interface ThemeMode {
  readonly accent: string;
  readonly onAccent: string;
  readonly accentHover: string;
  readonly accentSoft: string;
  readonly accentText: string;
}

export interface ChatConfig {
  readonly title: string;
  readonly access: { readonly mode: string };
  readonly locale: string | null;
  readonly welcome?: string;
  readonly suggestions?: readonly string[];
  readonly theme?: { readonly color: string; readonly light: ThemeMode; readonly dark: ThemeMode };
}

export interface StoredMessage {
  readonly id: string;
  readonly role: "user" | "assistant";
  readonly content: string;
  readonly status: "complete" | "stopped" | "failed";
  readonly created_at: string;
}

export interface Refusal {
  readonly status: number;
  /** The wire's code, or `HTTP_<status>` where the body was not ours (a proxy's page). */
  readonly code: string;
  readonly retryAfter: number | null;
}

export type Result<T> = { readonly ok: T } | { readonly refused: Refusal } | { readonly offline: true };

export class ChatClient {
  readonly #url: string;

  constructor(slug: string) {
    this.#url = `/api/chat/${encodeURIComponent(slug)}`;
  }

  config(): Promise<Result<ChatConfig>> {
    return this.#json<ChatConfig>(this.#url, {});
  }

  unlock(password: string): Promise<Result<null>> {
    return this.#json<null>(`${this.#url}/access`, post({ password }));
  }

  conversation(id: string): Promise<Result<{ id: string; messages: StoredMessage[] }>> {
    return this.#json(`${this.#url}/conversations/${encodeURIComponent(id)}`, {});
  }

  /** Sends one message. `onFrames` gets the frames of each read; the promise settles when the stream has ended. */
  async send(
    message: { input: string; conversationId: string | null; key: string },
    signal: AbortSignal,
    onOpen: (conversationId: string | null) => void,
    onFrames: (frames: Frame[]) => void,
  ): Promise<Result<null>> {
    const { input, conversationId, key } = message;
    const request = post(conversationId === null ? { input } : { input, conversationId });
    request.headers = { ...request.headers, [PROTOCOL_HEADER]: PROTOCOL, "Idempotency-Key": key };
    let response: Response;
    try {
      response = await fetch(this.#url, { ...request, signal });
    } catch {
      return { offline: true };
    }
    if (!isStream(response)) return { refused: await refusal(response) };
    onOpen(response.headers.get("X-Studio-Conversation"));
    await readFrames(response, onFrames);
    return { ok: null };
  }

  async #json<T>(url: string, init: RequestInit): Promise<Result<T>> {
    try {
      const response = await fetch(url, { ...init, cache: "no-store" });
      if (!response.ok) return { refused: await refusal(response) };
      return { ok: response.status === 204 ? (null as T) : ((await response.json()) as T) };
    } catch {
      return { offline: true };
    }
  }
}

/** Reads to the sentinel or the end; a broken connection is an end like any other (the terminal is missing). */
async function readFrames(response: Response, onFrames: (frames: Frame[]) => void): Promise<void> {
  const reader = new FrameReader();
  const body = response.body?.getReader();
  if (!body) return;
  try {
    while (!reader.done) {
      const { done, value } = await body.read();
      if (done) return;
      const frames = reader.feed(value);
      if (frames.length > 0) onFrames(frames);
    }
    await body.cancel();
  } catch {
    return;
  }
}

function post(body: object): RequestInit {
  return { method: "POST", headers: { "Content-Type": "application/json" }, body: JSON.stringify(body) };
}

function isStream(response: Response): boolean {
  return response.ok && (response.headers.get("Content-Type") ?? "").startsWith("text/event-stream");
}

async function refusal(response: Response): Promise<Refusal> {
  const seconds = Number.parseInt(response.headers.get("Retry-After") ?? "", 10);
  const retryAfter = Number.isFinite(seconds) ? seconds : null;
  let code = `HTTP_${response.status}`;
  try {
    const body: unknown = await response.json();
    if (typeof body === "object" && body !== null && "code" in body && typeof body.code === "string") code = body.code;
  } catch {
    // A proxy's page: the status says enough.
  }
  return { status: response.status, code, retryAfter };
}
