// The thinking row of one answer.

import { fill, type Messages } from "../i18n/index.ts";
import { type Answer, phase } from "../protocol/reducer.ts";
import { h, setAttributes, setText } from "./dom.ts";
import { icon } from "./icons.ts";

/** Thinking: open while live, folding when the answer starts, staying as the person left it. */
export class ThinkingRow {
  readonly element = h("div", { class: "thinking", hidden: true });
  readonly #words: Messages;
  readonly #label = h("span", {});
  readonly #text = h("div", { class: "thinking-text", dir: "auto" });
  readonly #toggle: HTMLButtonElement;
  readonly #started = performance.now();
  #seconds: number | null = null;
  #touched = false;

  constructor(words: Messages) {
    this.#words = words;
    this.#toggle = h("button", { type: "button", class: "row", "aria-expanded": "true" }, icon("chevron"), this.#label);
    this.#toggle.addEventListener("click", () => {
      this.#touched = true;
      this.#open(!this.#isOpen());
    });
    this.element.append(this.#toggle, this.#text);
  }

  draw(answer: Answer): void {
    if (answer.thinking === "") return;
    this.element.hidden = false;
    const live = phase(answer) === "thinking";
    const pinned = this.#text.scrollHeight - this.#text.scrollTop - this.#text.clientHeight < 24;
    setText(this.#text, answer.thinking);
    if (live && pinned) this.#text.scrollTop = this.#text.scrollHeight;
    if (live) setText(this.#label, this.#words.thinking);
    else this.#fold();
    setAttributes(this.element, { "data-live": live });
  }

  #fold(): void {
    if (this.#seconds === null) {
      this.#seconds = Math.max(1, Math.round((performance.now() - this.#started) / 1000));
      setText(this.#label, fill(this.#words.thoughtFor, { n: this.#seconds }));
      if (!this.#touched) this.#open(false);
    }
  }

  #isOpen(): boolean {
    return this.#toggle.getAttribute("aria-expanded") === "true";
  }

  #open(open: boolean): void {
    this.#toggle.setAttribute("aria-expanded", String(open));
    this.#text.hidden = !open;
  }
}
