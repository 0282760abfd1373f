// Copying text, also where the Clipboard API is missing (plain http, frames), with feedback one can see and hear.

import type { Messages } from "../i18n/index.ts";
import { h, setText } from "./dom.ts";
import { icon } from "./icons.ts";
import { say } from "./status.ts";

const SHOWN_MS = 2000;

export function copyButton(source: () => string, words: Messages): HTMLButtonElement {
  const label = h("span", {}, words.copy);
  const element = h("button", { type: "button", class: "quiet copy" }, icon("copy"), label);
  element.addEventListener("click", () => {
    void copy(source()).then((copied) => {
      if (!copied) return;
      element.firstElementChild?.replaceWith(icon("check"));
      setText(label, words.copied);
      say(words.copied);
      setTimeout(() => {
        element.firstElementChild?.replaceWith(icon("copy"));
        setText(label, words.copy);
      }, SHOWN_MS);
    });
  });
  return element;
}

async function copy(text: string): Promise<boolean> {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    return copyBySelection(text);
  }
}

function copyBySelection(text: string): boolean {
  const focused = document.activeElement;
  const area = h("textarea", { class: "hidden", "aria-hidden": "true", tabindex: -1 });
  area.value = text;
  document.body.append(area);
  area.select();
  const copied = document.execCommand("copy");
  area.remove();
  if (focused instanceof HTMLElement) focused.focus();
  return copied;
}
