// One message and its answer: sends, reduces frames, draws once a frame of the screen, ends in exactly one outcome.

import type { ChatClient, Refusal } from "../protocol/client.ts";
import type { Frame } from "../protocol/frames.ts";
import { type Answer, EMPTY_ANSWER, interrupt, reduce, stop } from "../protocol/reducer.ts";

export interface ExchangeEvents {
  /** The server took the message. */
  readonly opened: (conversationId: string | null) => void;
  readonly changed: (answer: Answer) => void;
  /** The answer has its outcome. */
  readonly ended: (answer: Answer) => void;
  /** The message was not taken: nothing ran. */
  readonly refused: (why: Refusal | "offline") => void;
}

export class Exchange {
  readonly key: string;
  #answer: Answer = EMPTY_ANSWER;
  #open = false;
  #scheduled = false;
  readonly #abort = new AbortController();
  readonly #events: ExchangeEvents;

  /** `key` is the Idempotency-Key: the same one again asks for the same answer, a new one for a new answer. */
  constructor(events: ExchangeEvents, key: string | null) {
    this.#events = events;
    this.key = key ?? newKey();
  }

  async send(client: ChatClient, input: string, conversationId: string | null): Promise<void> {
    const opened = (id: string | null): void => {
      this.#open = true;
      this.#events.opened(id);
    };
    const message = { input, conversationId, key: this.key };
    const result = await client.send(message, this.#abort.signal, opened, (frames) => this.#take(frames));
    if (this.#answer.outcome?.kind === "stopped") return;
    if (!this.#open && "offline" in result) this.#events.refused("offline");
    else if ("refused" in result) this.#events.refused(result.refused);
    else this.#end(interrupt(this.#answer));
  }

  /** The visitor's own Stop: settles at once, whatever the server still does. */
  stop(): void {
    if (this.#answer.outcome !== null) return;
    this.#abort.abort();
    this.#end(stop(this.#answer));
  }

  #take(frames: readonly Frame[]): void {
    if (this.#answer.outcome?.kind === "stopped") return;
    this.#answer = frames.reduce(reduce, this.#answer);
    if (this.#scheduled || document.hidden) return;
    this.#scheduled = true;
    requestAnimationFrame(() => {
      this.#scheduled = false;
      if (this.#answer.outcome === null) this.#events.changed(this.#answer);
    });
  }

  #end(answer: Answer): void {
    this.#answer = answer;
    this.#events.ended(answer);
  }
}

function newKey(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  return [...bytes].map((byte) => byte.toString(16).padStart(2, "0")).join("");
}
