// Which addresses a text may link to, and how a link says where it really goes.

import { h } from "./dom.ts";

const SCHEMES = new Set(["http:", "https:", "mailto:"]);
const LOOKS_LIKE_ADDRESS = /^\s*(?:https?:\/\/)?((?:[\p{L}\p{N}-]+\.)+\p{L}{2,})(?:[/:?#]|\s*$)/iu;

/** The address as the browser understands it, or null if it is none of ours (relative ones included). */
export function safeUrl(href: string): URL | null {
  try {
    const url = new URL(href);
    return SCHEMES.has(url.protocol) ? url : null;
  } catch {
    return null;
  }
}

/** A link, or its text alone where the address is not allowed. */
export function safeLink(
  href: string,
  children: (Node | string)[],
  text: string,
  options: { alwaysHost?: boolean } = {},
): (Node | string)[] {
  const url = safeUrl(href);
  if (url === null) return children;
  const link = h("a", { href: url.href, target: "_blank", rel: "noopener noreferrer nofollow" }, ...children);
  const host = foreignHost(url, text);
  if (host !== null || options.alwaysHost) return [link, ` (${host ?? (url.host || url.pathname)})`];
  return [link];
}

/** The real host where the visible text looks like another address; else null. */
function foreignHost(url: URL, text: string): string | null {
  const shown = LOOKS_LIKE_ADDRESS.exec(text)?.[1]?.toLowerCase();
  if (shown === undefined || url.protocol === "mailto:") return null;
  const real = url.hostname.toLowerCase();
  return shown === real || `www.${shown}` === real || shown === `www.${real}` ? null : url.host;
}
