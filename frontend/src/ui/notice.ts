// The one line above the composer: refusals, offline, the countdown of a rate limit, an undo.

import { clock, fill, type Messages } from "../i18n/index.ts";
import { button, h } from "./dom.ts";
import { say } from "./status.ts";

export class Notice {
  readonly element = h("div", { class: "notice", id: "notice", hidden: true });
  #timer: ReturnType<typeof setInterval> | null = null;

  show(text: string, action: { label: string; run: () => void } | null = null): void {
    this.clear();
    this.element.append(h("span", {}, text));
    if (action) {
      const act = button(action.label, { class: "quiet" });
      act.addEventListener("click", () => {
        this.clear();
        action.run();
      });
      this.element.append(act);
    }
    this.element.hidden = false;
    say(text);
  }

  /** Counts down on screen; is heard at its start and at its end only. */
  countdown(template: string, seconds: number, words: Messages, over: () => void): void {
    this.show(fill(template, { time: clock(seconds) }));
    const line = this.element.firstElementChild;
    const end = Date.now() + seconds * 1000;
    this.#timer = setInterval(() => {
      const left = Math.ceil((end - Date.now()) / 1000);
      if (left > 0) {
        if (line) line.textContent = fill(template, { time: clock(left) });
        return;
      }
      this.clear();
      say(words.canSend);
      over();
    }, 250);
  }

  clear(): void {
    if (this.#timer !== null) clearInterval(this.#timer);
    this.#timer = null;
    this.element.replaceChildren();
    this.element.hidden = true;
  }
}
