// A deployment's colours, computed by the server for both modes, set through the CSS object model (no inline style).

import type { ChatConfig, ThemeMode } from "../protocol/client.ts";

const COLOUR = /^#[0-9a-f]{6}$/i;

export function applyTheme(theme: ChatConfig["theme"]): void {
  if (!theme || typeof CSSStyleSheet === "undefined" || !("adoptedStyleSheets" in document)) return;
  const sheet = new CSSStyleSheet();
  sheet.replaceSync(`:root{${rules(theme.light)}}@media(prefers-color-scheme:dark){:root{${rules(theme.dark)}}}`);
  document.adoptedStyleSheets = [...document.adoptedStyleSheets, sheet];
}

function rules(mode: ThemeMode): string {
  const names = {
    "--accent": mode.accent,
    "--on-accent": mode.onAccent,
    "--accent-hover": mode.accentHover,
    "--accent-soft": mode.accentSoft,
    "--accent-text": mode.accentText,
  };
  return Object.entries(names)
    .filter(([, value]) => COLOUR.test(value))
    .map(([name, value]) => `${name}:${value}`)
    .join(";");
}
