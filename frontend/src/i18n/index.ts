// Which language the page speaks, and which sentence a code has in it.

import { en } from "./en.ts";
import { es } from "./es.ts";
import type { Messages, Sentences } from "./messages.ts";
import { ptBR } from "./pt-BR.ts";

export type { Messages } from "./messages.ts";

export const LANGUAGES: Readonly<Record<string, Messages>> = { en, "pt-BR": ptBR, es };

/** The first of `wanted` that we speak, by its language alone if need be; else English. */
export function choose(wanted: readonly string[]): { tag: string; messages: Messages } {
  for (const tag of wanted) {
    const language = tag.toLowerCase().split("-")[0];
    for (const [ours, messages] of Object.entries(LANGUAGES)) {
      if (ours.toLowerCase().split("-")[0] === language) return { tag: ours, messages };
    }
  }
  return { tag: "en", messages: en };
}

interface Said {
  readonly key: keyof Sentences;
  /** Whether "Try again" may help. */
  readonly retry: boolean;
}

const OURS: Said = { key: "OURS", retry: true };

// The table of codes a visitor can meet. Whoever adds a code on the server adds a row here: a test compares.
const SAID: Readonly<Record<string, Said>> = {
  RUN_CANCELLED: { key: "RUN_CANCELLED", retry: true },
  RUN_TIMEOUT: { key: "RUN_TIMEOUT", retry: true },
  RUN_INTERRUPTED: { key: "RUN_INTERRUPTED", retry: true },
  PROVIDER_AUTH: OURS,
  PROVIDER_BAD_REQUEST: OURS,
  BLOCK_FAILED: OURS,
  AGENT_RUN_FAILED: OURS,
  INTERNAL_ERROR: OURS,
  PROVIDER_RATE_LIMITED: { key: "BUSY_MODEL", retry: true },
  PROVIDER_OVERLOADED: { key: "BUSY_MODEL", retry: true },
  PROVIDER_UNAVAILABLE: { key: "PROVIDER_UNAVAILABLE", retry: true },
  PROVIDER_STREAM_BROKEN: { key: "PROVIDER_STREAM_BROKEN", retry: true },
  PROVIDER_CONTENT_FILTERED: { key: "PROVIDER_CONTENT_FILTERED", retry: false },
  CONTEXT_WINDOW_EXCEEDED: { key: "CONTEXT_WINDOW_EXCEEDED", retry: false },
  OUTPUT_LIMIT: { key: "OUTPUT_LIMIT", retry: true },
  EMPTY_ANSWER: { key: "EMPTY_ANSWER", retry: true },
  MAX_TOOL_ROUNDS: { key: "UNFINISHED", retry: true },
  TOOL_FAILURE_LIMIT: { key: "UNFINISHED", retry: true },
  BUDGET_EXCEEDED: { key: "BUDGET_EXCEEDED", retry: false },
  INVALID_JSON: { key: "OUT_OF_DATE", retry: false },
  PROTOCOL_REQUIRED: { key: "OUT_OF_DATE", retry: false },
  UNKNOWN_OUTPUT: { key: "OUT_OF_DATE", retry: false },
  METHOD_NOT_ALLOWED: { key: "OUT_OF_DATE", retry: false },
  UNSUPPORTED_MEDIA_TYPE: { key: "OUT_OF_DATE", retry: false },
  INVALID_BODY: { key: "NOT_ACCEPTED", retry: false },
  BODY_TOO_LARGE: { key: "NOT_ACCEPTED", retry: false },
  HTTP_413: { key: "NOT_ACCEPTED", retry: false },
  INPUT_EMPTY: { key: "INPUT_EMPTY", retry: false },
  AUTH_REQUIRED: { key: "AUTH_REQUIRED", retry: false },
  AUTH_FAILED: { key: "AUTH_FAILED", retry: false },
  ORIGIN_NOT_ALLOWED: { key: "ORIGIN_NOT_ALLOWED", retry: false },
  NOT_FOUND: { key: "NOT_FOUND", retry: false },
  CONVERSATION_GONE: { key: "CONVERSATION_GONE", retry: false },
  CONVERSATION_BUSY: { key: "CONVERSATION_BUSY", retry: false },
  IDEMPOTENCY_CONFLICT: { key: "IDEMPOTENCY_CONFLICT", retry: true },
  IDEMPOTENCY_IN_PROGRESS: { key: "IDEMPOTENCY_IN_PROGRESS", retry: false },
  RATE_LIMITED: { key: "RATE_LIMITED", retry: false },
  HTTP_429: { key: "RATE_LIMITED", retry: false },
  SERVICE_UNAVAILABLE: { key: "SERVICE_UNAVAILABLE", retry: true },
  HTTP_502: { key: "SERVICE_UNAVAILABLE", retry: true },
  HTTP_503: { key: "SERVICE_UNAVAILABLE", retry: true },
  HTTP_504: { key: "SERVICE_UNAVAILABLE", retry: true },
};

export const KNOWN_CODES: readonly string[] = Object.keys(SAID);

/** The visitor's sentence for a code. Never the wire's own text. */
export function sentence(messages: Messages, code: string): { text: string; retry: boolean } {
  const said = SAID[code] ?? OURS;
  return { text: messages.sentences[said.key], retry: said.retry };
}

/** Puts values into `{name}` places. */
export function fill(template: string, values: Readonly<Record<string, string | number>>): string {
  return template.replace(/\{(\w+)\}/g, (place, name: string) => String(values[name] ?? place));
}

export function plural(forms: Messages["usedTools"], tag: string, n: number): string {
  return fill(forms[new Intl.PluralRules(tag).select(n)] ?? forms.other, { n });
}

/** Seconds as a clock: `0:24`, `12:05`. */
export function clock(seconds: number): string {
  return `${Math.floor(seconds / 60)}:${String(Math.floor(seconds % 60)).padStart(2, "0")}`;
}
