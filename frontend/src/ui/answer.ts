// One answer: thinking row, tool row, text by block, note, actions. It draws a reducer state and keeps none of its
// own but what the person touched.

import { type Messages, sentence } from "../i18n/index.ts";
import { type Answer, hasText, type Outcome, phase, plainText } from "../protocol/reducer.ts";
import { copyButton } from "./copy.ts";
import { button, h, setAttributes } from "./dom.ts";
import { icon } from "./icons.ts";
import { MarkdownView } from "./markdown_view.ts";
import { ThinkingRow } from "./thinking.ts";
import { ToolRow } from "./tools.ts";

export interface AnswerActions {
  readonly words: Messages;
  readonly tag: string;
  readonly retry: () => void;
}

export class AnswerView {
  readonly element = h("div", { class: "answer" });
  readonly #actions: AnswerActions;
  readonly #thinking: ThinkingRow;
  readonly #tools: ToolRow;
  readonly #dots = h("div", { class: "dots", "aria-hidden": "true" }, h("i"), h("i"), h("i"));
  readonly #body = h("div", { class: "text" });
  readonly #note = h("p", { class: "note", hidden: true });
  readonly #buttons = h("div", { class: "actions", hidden: true });
  readonly #texts = new Map<string, MarkdownView>();
  #answer: Answer | null = null;

  constructor(actions: AnswerActions) {
    this.#actions = actions;
    this.#thinking = new ThinkingRow(actions.words);
    this.#tools = new ToolRow(actions.words, actions.tag);
    this.element.append(this.#thinking.element, this.#tools.element, this.#dots, this.#body, this.#note, this.#buttons);
  }

  draw(answer: Answer): void {
    const before = this.#answer;
    this.#answer = answer;
    this.#thinking.draw(answer);
    if (before?.chips !== answer.chips || before.outcome !== answer.outcome || hasText(before) !== hasText(answer)) {
      this.#tools.draw(answer);
    }
    this.#drawTexts(answer);
    this.#dots.hidden = phase(answer) !== "waiting";
    if (answer.outcome !== null && before?.outcome !== answer.outcome) this.#drawEnd(answer);
  }

  get outcome(): Outcome | null {
    return this.#answer?.outcome ?? null;
  }

  /** Retry stands on the newest answer only. */
  settleAsOlder(): void {
    this.#buttons.querySelector(".retry")?.remove();
  }

  #drawTexts(answer: Answer): void {
    for (const block of answer.blocks) {
      let view = this.#texts.get(block.id);
      if (!view) {
        view = new MarkdownView(this.#actions.words);
        this.#texts.set(block.id, view);
        this.#body.append(view.element);
      }
      view.draw(block.text, answer.outcome !== null);
    }
    // A retracted text leaves its height until new text comes: the page never jumps.
    if (hasText(answer) || answer.outcome !== null) this.#body.style.removeProperty("min-block-size");
    else if (this.#body.offsetHeight > 0) {
      this.#body.style.setProperty("min-block-size", `${this.#body.offsetHeight}px`);
    }
  }

  #drawEnd(answer: Answer): void {
    const { words, retry } = this.#actions;
    const end = ending(answer, words);
    this.#note.hidden = end.note === "";
    setAttributes(this.#note, { "data-tone": end.tone });
    this.#note.replaceChildren(...(end.note === "" ? [] : [icon(end.tone === "calm" ? "stopped" : "failed"), end.note]));
    this.#buttons.replaceChildren();
    if (hasText(answer)) this.#buttons.append(copyButton(() => plainText(answer), words));
    if (end.retry) {
      const again = button(words.tryAgain, { class: "quiet retry" }, icon("retry"));
      again.addEventListener("click", retry);
      this.#buttons.append(again);
    }
    this.#buttons.hidden = this.#buttons.childElementCount === 0;
  }
}

/** What the page says under an ended answer, and whether trying again may help. */
export function ending(answer: Answer, words: Messages): { note: string; tone: string; retry: boolean } {
  switch (answer.outcome?.kind) {
    case "stopped":
      return { note: words.stopped.charAt(0).toUpperCase() + words.stopped.slice(1), tone: "calm", retry: true };
    case "interrupted":
      return { note: words.sentences.INTERRUPTED, tone: "warn", retry: true };
    case "failed": {
      const { text, retry } = sentence(words, answer.outcome.code);
      return { note: text, tone: "bad", retry };
    }
    default:
      return { note: "", tone: "calm", retry: false };
  }
}
