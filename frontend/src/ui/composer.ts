// The box one writes in. Send and Stop share a place; typing goes on during an answer.

import type { Messages } from "../i18n/index.ts";
import { h, setAttributes } from "./dom.ts";
import { icon } from "./icons.ts";

const DOUBLE_PRESS_MS = 400;

export interface ComposerActions {
  readonly send: (text: string) => void;
  readonly stop: () => void;
  /** Enter was pressed while an answer is on its way. */
  readonly busy: () => void;
}

export class Composer {
  readonly element: HTMLFormElement;
  readonly #area: HTMLTextAreaElement;
  readonly #sendButton: HTMLButtonElement;
  readonly #stopButton: HTMLButtonElement;
  readonly #actions: ComposerActions;
  #running = false;
  #startedAt = 0;
  #blocked: string | null = null;

  constructor(words: Messages, actions: ComposerActions) {
    this.#actions = actions;
    const label = h("label", { class: "hidden", for: "message" }, words.message);
    const coarse = matchMedia("(pointer: coarse)").matches;
    this.#area = h("textarea", {
      id: "message",
      rows: 1,
      dir: "auto",
      placeholder: words.placeholder,
      spellcheck: "true",
      enterkeyhint: coarse ? "enter" : "send",
      "aria-describedby": "notice",
    });
    this.#sendButton = h("button", { type: "submit", class: "send", "aria-label": words.send }, icon("arrow-up"));
    this.#stopButton = h("button", { type: "button", class: "send", "aria-label": words.stop, hidden: true }, icon("stop"));
    this.element = h("form", { class: "composer" }, label, this.#area, this.#sendButton, this.#stopButton);
    this.element.addEventListener("submit", (event) => {
      event.preventDefault();
      this.#submit();
    });
    this.#stopButton.addEventListener("click", () => {
      if (performance.now() - this.#startedAt > DOUBLE_PRESS_MS) this.#actions.stop();
    });
    this.#area.addEventListener("keydown", (event) => this.#key(event, coarse));
    this.#area.addEventListener("input", () => this.#fit());
  }

  get text(): string {
    return this.#area.value;
  }

  set text(value: string) {
    this.#area.value = value;
    this.#fit();
  }

  focus(): void {
    this.#area.focus({ preventScroll: true });
  }

  setRunning(running: boolean): void {
    this.#running = running;
    if (running) this.#startedAt = performance.now();
    const focused = document.activeElement;
    this.#sendButton.hidden = running;
    this.#stopButton.hidden = !running;
    // A control that disappears under one's finger gives its focus to the box.
    if (focused === this.#sendButton || focused === this.#stopButton) this.focus();
  }

  /** Takes Send away with the reason; null gives it back. */
  setBlocked(reason: string | null): void {
    this.#blocked = reason;
    setAttributes(this.#sendButton, { "aria-disabled": reason !== null, title: reason });
  }

  #submit(): void {
    const text = this.#area.value;
    if (text.trim() === "" || this.#blocked !== null) return;
    if (this.#running) this.#actions.busy();
    else this.#actions.send(text);
  }

  #key(event: KeyboardEvent, coarse: boolean): void {
    // Safari ends a composition before the confirming key press, so isComposing alone sends half words.
    if (event.key !== "Enter" || event.isComposing || event.keyCode === 229) return;
    const always = event.ctrlKey || event.metaKey;
    if (!always && (event.shiftKey || coarse)) return;
    event.preventDefault();
    this.#submit();
  }

  #fit(): void {
    this.#area.style.setProperty("height", "auto");
    this.#area.style.setProperty("height", `${Math.min(this.#area.scrollHeight, innerHeight * 0.4)}px`);
  }
}
