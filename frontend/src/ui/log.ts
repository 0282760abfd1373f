// The log: turns with hidden headings, so that people who hear the page walk by them.

import type { Messages } from "../i18n/index.ts";
import { h } from "./dom.ts";

export class Log {
  readonly element: HTMLElement;
  readonly #words: Messages;
  readonly #tag: string;
  #day = "";

  constructor(words: Messages, tag: string) {
    this.#words = words;
    this.#tag = tag;
    // `off` is explicit: a polite log would read every token; `status.ts` reads the answer once instead.
    this.element = h("div", { class: "log", role: "log", "aria-live": "off", "aria-label": words.conversation, tabindex: 0 });
  }

  setBusy(busy: boolean): void {
    this.element.setAttribute("aria-busy", String(busy));
  }

  clear(): Node[] {
    this.#day = "";
    const nodes = [...this.element.childNodes];
    this.element.replaceChildren();
    return nodes;
  }

  restore(nodes: Node[]): void {
    this.element.replaceChildren(...nodes);
  }

  addMine(text: string, at: Date): HTMLElement {
    this.#divide(at);
    const turn = h("div", { class: "turn mine" }, this.#heading(this.#words.you, at), h("p", { dir: "auto" }, text));
    this.element.append(turn);
    return turn;
  }

  addAnswer(view: HTMLElement, name: string, at: Date): HTMLElement {
    const turn = h("div", { class: "turn theirs" }, this.#heading(name, at), view);
    this.element.append(turn);
    return turn;
  }

  #heading(name: string, at: Date): HTMLElement {
    const time = at.toLocaleTimeString(this.#tag, { hour: "2-digit", minute: "2-digit" });
    return h("h2", { class: "hidden" }, `${name}, `, h("time", { datetime: at.toISOString() }, time));
  }

  #divide(at: Date): void {
    const day = this.#dayName(at);
    if (this.#day !== day && (this.#day !== "" || day !== this.#words.today)) {
      this.element.append(h("p", { class: "day" }, day));
    }
    this.#day = day;
  }

  #dayName(at: Date): string {
    const days = Math.round((new Date().setHours(0, 0, 0, 0) - new Date(at).setHours(0, 0, 0, 0)) / 86_400_000);
    if (days === 0) return this.#words.today;
    if (days === 1) return this.#words.yesterday;
    return at.toLocaleDateString(this.#tag, { dateStyle: "long" });
  }
}
