// Fails when a page's script outgrows its promise. Kilobytes as the network carries them, gzipped.
import { readFileSync } from "node:fs";
import { gzipSync } from "node:zlib";

const PROMISES = { "chat.js": 40 };

for (const [name, limit] of Object.entries(PROMISES)) {
  const size = gzipSync(readFileSync(`../static/dist/${name}`), { level: 9 }).length / 1024;
  console.log(`${name}: ${size.toFixed(1)} KB gzipped, of ${limit}`);
  if (size > limit) process.exitCode = 1;
}
