import assert from "node:assert/strict";
import { test } from "node:test";
import type { Frame } from "../src/protocol/frames.ts";
import { FrameReader } from "../src/protocol/reader.ts";
import { type Answer, EMPTY_ANSWER, interrupt, phase, plainText, reduce, stop } from "../src/protocol/reducer.ts";

const STREAM: unknown[] = [
  { blockId: "a", event: "thinking", data: "Ünï\u2028code 🦅 " },
  { blockId: "a", chunk: "Let me look." },
  { blockId: "a", event: "tool", phase: "start", id: "call_1", name: "lookup_order" },
  { blockId: "a", event: "a_later_kind", chunk: "never shown" },
  { blockId: "a", event: "chunk_reset" },
  { blockId: "a", event: "tool", phase: "end", id: "call_1", name: "lookup_order", status: "success" },
  { blockId: "b", chunk: "Second " },
  { blockId: "a", chunk: "It is 42 °C: data: [DONE]\n" },
  { blockId: "b", chunk: "block\r\n" },
  { event: "final", data: { success: true, executionId: "run_1", output: {} } },
];

function wire(frames: unknown[]): Uint8Array {
  const lines = [...frames, "[DONE]"].map((frame) => `data: ${JSON.stringify(frame)}\n\n`);
  return new TextEncoder().encode(`: ping\n\n${lines.join("")}`);
}

function read(bytes: Uint8Array, cuts: number[]): { answer: Answer; done: boolean } {
  const reader = new FrameReader();
  let answer = EMPTY_ANSWER;
  let from = 0;
  for (const to of [...cuts, bytes.length]) {
    answer = reader.feed(bytes.slice(from, to)).reduce(reduce, answer);
    from = to;
  }
  return { answer, done: reader.done };
}

const whole = read(wire(STREAM), []);

test("it reads a stream into the answer it stands for", () => {
  assert.equal(whole.answer.thinking, "Ünï\u2028code 🦅 ");
  assert.deepEqual(whole.answer.blocks, [
    { id: "a", text: "It is 42 °C: data: [DONE]\n" },
    { id: "b", text: "Second block\r\n" },
  ]);
  assert.deepEqual(whole.answer.chips, [{ id: "call_1", name: "lookup_order", status: "success" }]);
  assert.deepEqual(whole.answer.outcome, { kind: "complete" });
  assert.ok(whole.done);
});

test("it reads the same from any cut of the bytes", () => {
  const bytes = wire(STREAM);
  for (let at = 1; at < bytes.length; at += 1) assert.deepEqual(read(bytes, [at]), whole, `cut at ${at}`);
});

test("it reads the same byte by byte", () => {
  const bytes = wire(STREAM);
  assert.deepEqual(read(bytes, Array.from({ length: bytes.length }, (_, at) => at)), whole);
});

test("it takes a frame with an event key for no answer text, whatever else it holds", () => {
  const answer = reduce(EMPTY_ANSWER, { event: "unknown", blockId: "a", chunk: "x" } as unknown as Frame);
  assert.equal(plainText(answer), "");
});

test("it ignores what follows the terminal and the sentinel", () => {
  const late = { blockId: "a", chunk: "late" } as Frame;
  assert.equal(plainText(reduce(whole.answer, late)), plainText(whole.answer));
  const reader = new FrameReader();
  reader.feed(wire([]));
  assert.deepEqual(reader.feed(new TextEncoder().encode('data: {"blockId":"a","chunk":"late"}\n\n')), []);
});

test("it settles running chips as failed when the connection breaks and as stopped after Stop", () => {
  const running = reduce(EMPTY_ANSWER, { blockId: "a", event: "tool", phase: "start", id: "call_1", name: "x" });
  assert.equal(interrupt(running).chips[0]?.status, "error");
  assert.deepEqual(interrupt(running).outcome, { kind: "interrupted" });
  assert.equal(stop(running).chips[0]?.status, "cancelled");
  assert.deepEqual(interrupt(stop(running)).outcome, { kind: "stopped" });
});

test("it takes a final without success, and an error, for failures with their code", () => {
  const final = { event: "final", data: { success: false, code: "TOOL_FAILURE_LIMIT", executionId: "r" } } as const;
  assert.deepEqual(reduce(EMPTY_ANSWER, final).outcome, { kind: "failed", code: "TOOL_FAILURE_LIMIT" });
  const error = { event: "error", error: "x", code: "RUN_TIMEOUT" } as const;
  assert.deepEqual(reduce(EMPTY_ANSWER, error).outcome, { kind: "failed", code: "RUN_TIMEOUT" });
});

test("it does not take stream_error for an end", () => {
  const answer = reduce(EMPTY_ANSWER, { event: "stream_error", blockId: "a", error: "x" });
  assert.equal(answer.outcome, null);
});

test("it drops a tool end with a status the protocol does not have", () => {
  const start = reduce(EMPTY_ANSWER, { blockId: "a", event: "tool", phase: "start", id: "call_1", name: "x" });
  const end = { blockId: "a", event: "tool", phase: "end", id: "call_1", name: "x", status: "great" } as unknown as Frame;
  assert.equal(reduce(start, end).chips[0]?.status, "running");
});

test("its phase is a function of its state, so thinking cannot go on after the answer began", () => {
  const thinking = reduce(EMPTY_ANSWER, { blockId: "a", event: "thinking", data: "hm" });
  assert.equal(phase(EMPTY_ANSWER), "waiting");
  assert.equal(phase(thinking), "thinking");
  assert.equal(phase(reduce(thinking, { blockId: "a", chunk: "x" })), "answering");
  assert.equal(phase(interrupt(thinking)), "ended");
});
