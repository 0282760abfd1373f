// Code and tables: the two things in an answer that scroll sideways on their own.

import type { Tokens } from "marked";
import type { Messages } from "../i18n/index.ts";
import { copyButton } from "./copy.ts";
import { h } from "./dom.ts";

export function codeBlock(token: Tokens.Code, words: Messages): HTMLElement {
  const language = (token.lang ?? "").split(/\s/)[0]?.slice(0, 20) ?? "";
  const pre = h("pre", { dir: "ltr" }, h("code", {}, token.text));
  const name = language === "" ? words.code : `${words.code}, ${language}`;
  const bar = h("div", { class: "code-bar" }, h("span", {}, language), copyButton(() => token.text, words));
  return h("div", { class: "code" }, bar, scrollable(pre, name));
}

export function tableBlock(
  token: Tokens.Table,
  words: Messages,
  content: (cell: Tokens.TableCell) => (Node | string)[],
): HTMLElement {
  const row = (cells: Tokens.TableCell[], tag: "th" | "td"): HTMLElement =>
    h(
      "tr",
      {},
      ...cells.map((cell) =>
        h(tag, { dir: "auto", class: cell.align ? `align-${cell.align}` : null, scope: tag === "th" ? "col" : null },
          ...content(cell)),
      ),
    );
  const table = h(
    "table",
    {},
    h("thead", {}, row(token.header, "th")),
    h("tbody", {}, ...token.rows.map((cells) => row(cells, "td"))),
  );
  return scrollable(h("div", { class: "table" }, table), words.table);
}

const overflow =
  typeof ResizeObserver === "undefined"
    ? null
    : new ResizeObserver((entries) => {
        for (const { target } of entries) {
          // Keyboards can only scroll what has focus; a stop in the Tab order is right only where something hides.
          const hides = target.scrollWidth > target.clientWidth + 1;
          if (hides) for (const [key, value] of Object.entries(focusable(target))) target.setAttribute(key, value);
          else for (const key of ["tabindex", "role", "aria-label"]) target.removeAttribute(key);
        }
      });

function focusable(target: Element): Record<string, string> {
  return { tabindex: "0", role: "region", "aria-label": target.getAttribute("data-name") ?? "" };
}

function scrollable<E extends HTMLElement>(element: E, name: string): E {
  element.dataset["name"] = name;
  overflow?.observe(element);
  return element;
}
