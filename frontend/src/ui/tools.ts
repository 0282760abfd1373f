// The tool row of one answer.

import { fill, type Messages, plural } from "../i18n/index.ts";
import { type Answer, type Chip, hasText } from "../protocol/reducer.ts";
import { h, setText } from "./dom.ts";
import { icon } from "./icons.ts";
import { humanName } from "./names.ts";

const MANY_CHIPS = 6;

/** Tool chips by human names; one line once there are many or the answer has begun. */
export class ToolRow {
  readonly element = h("div", { class: "tools", hidden: true });
  readonly #words: Messages;
  readonly #tag: string;
  readonly #summary: HTMLButtonElement;
  readonly #label = h("span", {});
  readonly #chips = h("ul", { class: "chips" });
  #opened = false;

  constructor(words: Messages, tag: string) {
    this.#words = words;
    this.#tag = tag;
    this.#summary = h("button", { type: "button", class: "row", hidden: true }, icon("chevron"), this.#label);
    this.#summary.addEventListener("click", () => {
      this.#opened = !this.#opened;
      this.#fold(true);
    });
    this.element.append(this.#summary, this.#chips);
  }

  draw(answer: Answer): void {
    const { chips } = answer;
    this.element.hidden = chips.length === 0;
    if (chips.length === 0) return;
    this.#chips.replaceChildren(...chips.map((chip) => this.#chip(chip)));
    const failed = chips.filter((chip) => chip.status === "error").length;
    const used = plural(this.#words.usedTools, this.#tag, chips.length);
    setText(this.#label, failed === 0 ? used : `${used} · ${fill(this.#words.failedTools, { n: failed })}`);
    this.#fold(chips.length > MANY_CHIPS || hasText(answer));
  }

  #fold(folded: boolean): void {
    this.#summary.hidden = !folded;
    this.#chips.hidden = folded && !this.#opened;
    this.#summary.setAttribute("aria-expanded", String(!this.#chips.hidden));
  }

  #chip(chip: Chip): HTMLElement {
    const look = { running: "running", success: "check", error: "failed", cancelled: "stopped" } as const;
    const { running, done, failed, stopped } = this.#words;
    const word = { running, success: done, error: failed, cancelled: stopped }[chip.status];
    const name = h("span", { class: "chip-name", dir: "auto" }, humanName(chip.name));
    return h("li", { class: "chip", "data-status": chip.status }, icon(look[chip.status]), name, h("span", {}, word));
  }
}
