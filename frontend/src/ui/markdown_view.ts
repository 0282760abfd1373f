// A Markdown text that grows.

import type { Token } from "marked";
import type { Messages } from "../i18n/index.ts";
import { h } from "./dom.ts";
import { lex, renderBlock } from "./markdown.ts";

/** Live Markdown: lexes again only from the last blocks that may still change, the whole text once at the end. */
export class MarkdownView {
  readonly element = h("div", { class: "markdown" });
  readonly #words: Messages;
  #text = "";
  #ended = false;
  #stableLength = 0;
  #stableNodes = 0;

  constructor(words: Messages) {
    this.#words = words;
  }

  draw(text: string, ended: boolean): void {
    if (text === this.#text && ended === this.#ended) return;
    if (ended || !text.startsWith(this.#text)) this.#stableLength = this.#stableNodes = 0;
    this.#text = text;
    this.#ended = ended;
    const tokens = lex(text.slice(this.#stableLength));
    const drawn = tokens.map((token) => renderBlock(token, this.#words));
    while (this.element.childNodes.length > this.#stableNodes) this.element.lastChild?.remove();
    this.element.append(...drawn.filter((node) => node !== null));
    if (!ended) this.#settle(tokens, drawn);
  }

  #settle(tokens: Token[], drawn: (Node | null)[]): void {
    // The last two blocks may still grow into another kind (a list after a blank line, a table's second line).
    const shown = drawn.map((node, index) => (node === null ? -1 : index)).filter((index) => index >= 0);
    const keep = shown.length > 2 ? (shown[shown.length - 2] ?? 0) : 0;
    for (let index = 0; index < keep; index += 1) {
      this.#stableLength += tokens[index]?.raw.length ?? 0;
      if (drawn[index] !== null) this.#stableNodes += 1;
    }
  }
}
