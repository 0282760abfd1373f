// The two nodes screen readers listen to. They stand outside the log and are always mounted: a live region that
// appears already filled is often not read. The log itself is silent, so that nobody hears every token.

import { h, setText } from "./dom.ts";

const LONGEST = 600;
const CLEARED_MS = 5000;

const announcer = h("div", { class: "hidden", "aria-live": "polite", "aria-atomic": "true", id: "announcer" });
const status = h("div", { class: "hidden", role: "status", id: "status" });

export function mountStatus(parent: Element): void {
  parent.append(announcer, status);
}

/** Says a short thing: "Copied", "You are offline". */
export function say(text: string): void {
  setText(status, text);
}

/** Reads out an answer or its failure, once a turn, in a later task than the one that ended the turn. */
export function announce(text: string, rest: string): void {
  const shown = text.length > LONGEST ? `${text.slice(0, LONGEST)}… ${rest}` : text;
  setTimeout(() => {
    setText(announcer, shown);
    setTimeout(() => {
      if (announcer.textContent === shown) setText(announcer, "");
    }, CLEARED_MS);
  }, 0);
}
