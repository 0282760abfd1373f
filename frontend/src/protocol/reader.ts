// Bytes of an event stream to frames, for any cut of the bytes. Pure: no network.

import { createParser } from "eventsource-parser";
import { DONE, type Frame } from "./frames.ts";

export class FrameReader {
  readonly #decoder = new TextDecoder();
  readonly #frames: Frame[] = [];
  /** True once the sentinel came: nothing after it counts. */
  done = false;

  readonly #parser = createParser({
    onEvent: ({ data }) => {
      if (this.done) return;
      const value = parse(data);
      if (value === DONE) this.done = true;
      else if (isFrame(value)) this.#frames.push(value);
    },
  });

  /** Returns the frames that `bytes` completed, in order. */
  feed(bytes: Uint8Array): Frame[] {
    this.#parser.feed(this.#decoder.decode(bytes, { stream: true }));
    return this.#frames.splice(0);
  }
}

function parse(data: string): unknown {
  try {
    return JSON.parse(data);
  } catch {
    return undefined; // A line that is no JSON is no frame of ours; the missing terminal will tell.
  }
}

function isFrame(value: unknown): value is Frame {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
