import assert from "node:assert/strict";
import { test } from "node:test";
import { choose, clock, KNOWN_CODES, LANGUAGES, plural, sentence } from "../src/i18n/index.ts";
import { decodeEntities } from "../src/ui/entities.ts";
import { safeUrl } from "../src/ui/links.ts";
import { humanName } from "../src/ui/names.ts";

// Words no visitor should meet in a sentence: they name our workings, or blame.
const FORBIDDEN =
  /\b(token|prompt|model|provider|tool|api|budget|cost|timeout|exception|null|stack|oops|sorry|invalid|simply|just|easy|successfully|hallucinate|kill|abort|terminate)\b/i;

test("it has a sentence without our own jargon for every code, in every language", () => {
  for (const messages of Object.values(LANGUAGES)) {
    for (const code of [...KNOWN_CODES, "A_LATER_CODE"]) {
      const { text } = sentence(messages, code);
      assert.ok(text.length > 10, code);
      assert.doesNotMatch(text, FORBIDDEN);
    }
  }
});

test("it speaks the visitor's language where it can, else English", () => {
  assert.equal(choose(["pt-PT", "en"]).tag, "pt-BR");
  assert.equal(choose(["es-MX"]).tag, "es");
  assert.equal(choose(["de", "es"]).tag, "es");
  assert.equal(choose(["de"]).tag, "en");
});

test("it counts by the language's own rules", () => {
  const { messages, tag } = choose(["pt-BR"]);
  assert.equal(plural(messages.usedTools, tag, 1), "Usou 1 ferramenta");
  assert.equal(plural(messages.usedTools, tag, 3), "Usou 3 ferramentas");
});

test("it shows seconds as a clock", () => {
  assert.equal(clock(24), "0:24");
  assert.equal(clock(725), "12:05");
});

test("it makes tool names for people", () => {
  const names = {
    lookup_order: "Lookup order",
    getInvoicePDF: "Get invoice PDF",
    "catalog.get-item": "Catalog get item",
    "\u202ereversed": "Reversed",
    "___": "Tool",
    [`a${"b".repeat(60)}`]: `A${"b".repeat(38)}…`,
  };
  for (const [name, shown] of Object.entries(names)) assert.equal(humanName(name), shown);
});

test("it links to http, https and mailto only", () => {
  assert.equal(safeUrl("https://a.example/x")?.href, "https://a.example/x");
  assert.equal(safeUrl("mailto:a@example.org")?.protocol, "mailto:");
  for (const bad of ["javascript:alert(1)", "JaVaScRiPt&#58;alert(1)", " javascript:alert(1)", "data:text/html,x", "/admin", "//x"]) {
    assert.equal(safeUrl(bad), null, bad);
  }
});

test("it decodes character references without an HTML parser", () => {
  assert.equal(decodeEntities("a &amp; b &lt;i&gt; &#233; &#x1F985; &nope; &#0;"), "a & b <i> é 🦅 &nope; \ufffd");
});
