// Takes the picture of metrics.md: the trace of the demo run in Zipkin, on the platform that runs in this checkout (npm start -- --observe).
//
//   node docs/operations/trace.mjs [file]
import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { fileURLToPath } from "node:url";

const ROOT = new URL("../../", import.meta.url);
const file = process.argv[2] ?? fileURLToPath(new URL("trace.png", import.meta.url));
const require = createRequire(new URL("gateway/console/package.json", ROOT));
const { chromium } = require("playwright-core");

const { demoTraceUrl } = JSON.parse(readFileSync(new URL(".nodeloom/local.json", ROOT), "utf8"));
if (demoTraceUrl === undefined) throw new Error("nothing is traced here: npm start -- --observe");
const VIEW = { width: 1440, height: 1100 };

const helper = fileURLToPath(new URL("test-support/chromium.mjs", ROOT));
const executablePath = process.env.CHROMIUM_PATH ?? execFileSync(process.execPath, [helper], { encoding: "utf8" });
const browser = await chromium.launch({ executablePath, args: ["--no-sandbox", "--headless=shell", "--disable-gpu", "--no-zygote"] });
try {
  const page = await browser.newPage({ viewport: VIEW, colorScheme: "light", reducedMotion: "reduce" });
  await page.goto(demoTraceUrl);
  for (const name of ["startworkflow:executegraph", "billingservice/settle"])
    await page.getByText(name).first().waitFor({ timeout: 60_000 });
  await page.evaluate(() => document.fonts.ready);
  await page.screenshot({ path: file });
} finally {
  await browser.close();
}
process.stdout.write(`${file}: ${demoTraceUrl}\n`);
