// The panel that stands in for the composer (or the whole log) until the visitor may come in.

import { type Messages, sentence } from "../i18n/index.ts";
import type { Refusal } from "../protocol/client.ts";
import { h, setAttributes, setText } from "./dom.ts";
import { icon } from "./icons.ts";

/** A password form. `unlock` settles with null when the visitor is in, else with the refusal. */
export function passwordPanel(
  words: Messages,
  unlock: (password: string) => Promise<Refusal | "offline" | null>,
): HTMLElement {
  const field = h("input", {
    id: "password",
    type: "password",
    autocomplete: "current-password",
    required: true,
    "aria-describedby": "password-error",
  });
  const error = h("p", { id: "password-error", class: "field-error", role: "alert" });
  const form = h(
    "form",
    { class: "access" },
    icon("lock"),
    // Password managers file a password under a name; without one they warn or file it wrongly.
    h("input", { type: "text", autocomplete: "username", value: location.pathname, hidden: true, readonly: true }),
    h("label", { for: "password" }, words.password),
    h("div", { class: "field" }, field, showButton(field, words)),
    error,
    h("button", { type: "submit", class: "primary" }, words.continue),
  );
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    setText(error, "");
    form.setAttribute("aria-busy", "true");
    void unlock(field.value).then((refused) => {
      form.removeAttribute("aria-busy");
      if (refused === null) return;
      setText(error, refused === "offline" ? words.sentences.OFFLINE : sentence(words, refused.code).text);
      field.setAttribute("aria-invalid", "true");
      field.focus();
      field.select();
    });
  });
  return form;
}

function showButton(field: HTMLInputElement, words: Messages): HTMLElement {
  const toggle = h("button", { type: "button", class: "quiet", "aria-pressed": "false" }, words.showPassword);
  toggle.addEventListener("click", () => {
    const shown = field.type === "text";
    setAttributes(field, { type: shown ? "password" : "text" });
    setAttributes(toggle, { "aria-pressed": String(!shown) });
    setText(toggle, shown ? words.showPassword : words.hidePassword);
  });
  return toggle;
}

export function elsewherePanel(words: Messages): HTMLElement {
  return h("div", { class: "access" }, icon("lock"), h("p", {}, words.signInElsewhere));
}
