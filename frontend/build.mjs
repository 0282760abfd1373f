// Bundles the pages' scripts and styles into ../static/dist, or the tests into dist-tests.
import { build } from "esbuild";
import { readdirSync, rmSync } from "node:fs";

const common = { bundle: true, target: ["es2022", "safari15"], charset: "utf8", legalComments: "none", logLevel: "warning" };

if (process.argv.includes("--tests")) {
  rmSync("dist-tests", { recursive: true, force: true });
  await build({
    ...common,
    entryPoints: readdirSync("tests").filter((name) => name.endsWith(".test.ts")).map((name) => `tests/${name}`),
    outdir: "dist-tests",
    outExtension: { ".js": ".mjs" },
    format: "esm",
    platform: "node",
    target: "node20",
  });
} else {
  await build({
    ...common,
    entryPoints: { chat: "src/chat.ts" },
    outdir: "../static/dist",
    format: "esm",
    minify: true,
  });
  const styles = { chat: "styles/chat.css", admin: "styles/admin.css" };
  await build({ ...common, entryPoints: styles, outdir: "../static/dist", minify: true });
}
