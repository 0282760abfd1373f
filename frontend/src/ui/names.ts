// Tool names for people (`lookup_order` → "Lookup order"). Text only, never translated.

const KEPT = new Set(["API", "CPF", "CSV", "FAQ", "HTTP", "ID", "PDF", "SKU", "SQL", "URL", "VAT"]);
const LONGEST = 40;
// Control characters, and those that turn the direction of text around.
const UNSEEN = /[\u0000-\u001f\u007f-\u009f\u200b-\u200f\u202a-\u202e\u2060-\u2069\ufeff]/g;

export function humanName(name: string): string {
  const words = name
    .replace(UNSEEN, "")
    .replace(/[_\-.:/]+/g, " ")
    .replace(/(\p{Ll}|\d)(\p{Lu})/gu, "$1 $2")
    .replace(/(\p{Lu})(\p{Lu}\p{Ll})/gu, "$1 $2")
    .split(/\s+/)
    .filter((word) => word !== "");
  const text = words.map(said).join(" ");
  if (text === "") return "Tool";
  const shown = text.charAt(0).toUpperCase() + text.slice(1);
  const characters = [...shown];
  return characters.length > LONGEST ? `${characters.slice(0, LONGEST - 1).join("")}…` : shown;
}

function said(word: string): string {
  const upper = word.toUpperCase();
  return KEPT.has(upper) ? upper : word.toLowerCase();
}
