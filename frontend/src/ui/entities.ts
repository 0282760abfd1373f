// Character references inside Markdown text, decoded without an HTML parser.

const NAMED: Readonly<Record<string, string>> = {
  amp: "&", lt: "<", gt: ">", quot: '"', apos: "'", nbsp: "\u00a0", copy: "©", reg: "®", trade: "™", hellip: "…",
  mdash: "—", ndash: "–", lsquo: "‘", rsquo: "’", ldquo: "“", rdquo: "”", laquo: "«", raquo: "»", bull: "•",
  middot: "·", deg: "°", plusmn: "±", times: "×", divide: "÷", euro: "€", pound: "£", yen: "¥", cent: "¢", sect: "§",
  para: "¶", larr: "←", rarr: "→", uarr: "↑", darr: "↓", ne: "≠", le: "≤", ge: "≥", infin: "∞", shy: "\u00ad",
};

export function decodeEntities(text: string): string {
  if (!text.includes("&")) return text;
  return text.replace(/&(?:#(\d{1,7})|#[xX]([\da-fA-F]{1,6})|([a-zA-Z]{2,8}));/g, (whole, decimal, hex, name) => {
    if (name !== undefined) return NAMED[name] ?? whole;
    return character(decimal === undefined ? Number.parseInt(hex, 16) : Number.parseInt(decimal, 10));
  });
}

function character(code: number): string {
  const legal = code > 0 && code <= 0x10ffff && !(code >= 0xd800 && code <= 0xdfff);
  return legal ? String.fromCodePoint(code) : "\ufffd";
}
