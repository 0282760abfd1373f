// Markdown as DOM nodes, from marked's lexer by an allow-list: no HTML strings, no sanitiser, nothing loads by itself.

import { Lexer, type Token, type Tokens } from "marked";
import type { Messages } from "../i18n/index.ts";
import { h } from "./dom.ts";
import { codeBlock, tableBlock } from "./blocks.ts";
import { decodeEntities } from "./entities.ts";
import { safeLink } from "./links.ts";

/** Returns the tokens of a text; a failure of the lexer shows the text as it is. */
export function lex(text: string): Token[] {
  try {
    return new Lexer({ gfm: true }).lex(text);
  } catch {
    return [{ type: "text", raw: text, text } as Tokens.Text];
  }
}

export function renderBlock(token: Token, words: Messages): Node | null {
  switch (token.type) {
    case "space":
    case "def":
      return null;
    case "heading":
      // The page's own headings are h1 and h2; an answer's begin below them.
      return auto(h(`h${Math.min(6, (token as Tokens.Heading).depth + 2)}` as "h3"), inline(token, words));
    case "paragraph":
      return auto(h("p"), inline(token, words));
    case "text":
      return auto(h("p"), inline(token, words));
    case "code":
      return codeBlock(token as Tokens.Code, words);
    case "table":
      return tableBlock(token as Tokens.Table, words, (cell) => inlineTokens(cell.tokens, words));
    case "blockquote":
      return auto(h("blockquote"), blocks((token as Tokens.Blockquote).tokens, words));
    case "list":
      return list(token as Tokens.List, words);
    case "hr":
      return h("hr");
    default:
      return auto(h("p"), [token.raw]); // HTML and what a later marked may add: shown as text.
  }
}

function blocks(tokens: readonly Token[], words: Messages): Node[] {
  return tokens.map((token) => renderBlock(token, words)).filter((node) => node !== null);
}

function list(token: Tokens.List, words: Messages): HTMLElement {
  const start = token.ordered && token.start !== "" && token.start !== 1 ? token.start : null;
  const element = token.ordered ? h("ol", { start }) : h("ul");
  for (const item of token.items) {
    element.append(auto(h("li"), item.tokens.flatMap((part) => listPart(part, item, words))));
  }
  return element;
}

function listPart(token: Token, item: Tokens.ListItem, words: Messages): (Node | string)[] {
  if (token.type === "checkbox") return [item.checked ? "☑ " : "☐ "];
  if (token.type === "text" || (token.type === "paragraph" && !item.loose)) return inline(token, words);
  const node = renderBlock(token, words);
  return node === null ? [] : [node];
}

function inline(token: Token, words: Messages): (Node | string)[] {
  return "tokens" in token && token.tokens ? inlineTokens(token.tokens, words) : [decodeEntities(textOf(token))];
}

function inlineTokens(tokens: readonly Token[], words: Messages): (Node | string)[] {
  return tokens.flatMap((token) => inlineToken(token, words));
}

function inlineToken(token: Token, words: Messages): (Node | string)[] {
  switch (token.type) {
    case "escape":
      return [textOf(token)];
    case "text":
      return inline(token, words);
    case "strong":
      return [h("strong", {}, ...inline(token, words))];
    case "em":
      return [h("em", {}, ...inline(token, words))];
    case "del":
      return [h("del", {}, ...inline(token, words))];
    case "codespan":
      return [h("code", { dir: "ltr" }, textOf(token))];
    case "br":
      return [h("br")];
    case "link":
      return safeLink((token as Tokens.Link).href, inline(token, words), (token as Tokens.Link).text);
    case "image":
      return image(token as Tokens.Image, words);
    default:
      return [token.raw];
  }
}

/** An image never loads, since that would tell an outsider who reads: it is a link that says what it is. */
function image(token: Tokens.Image, words: Messages): (Node | string)[] {
  const label = token.text === "" ? words.image : `${words.image}: ${token.text}`;
  return safeLink(token.href, [label], label, { alwaysHost: true });
}

function textOf(token: Token): string {
  return "text" in token && typeof token.text === "string" ? token.text : token.raw;
}

function auto<E extends HTMLElement>(element: E, children: (Node | string)[]): E {
  element.dir = "auto";
  element.append(...children);
  return element;
}
