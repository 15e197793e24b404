// Takes the picture of temporal.md: a run in Temporal's UI, on the platform that runs in this checkout (npm start).
//
//   node docs/operations/temporal-run.mjs [file]
import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { fileURLToPath } from "node:url";

const ROOT = new URL("../../", import.meta.url);
const file = process.argv[2] ?? fileURLToPath(new URL("temporal-run.png", import.meta.url));
const require = createRequire(new URL("gateway/console/package.json", ROOT));
const { chromium } = require("playwright-core");

const { baseUrl, temporalUiUrl, accounts } = JSON.parse(readFileSync(new URL(".nodeloom/local.json", ROOT), "utf8"));
/** Wide enough for the run's head in columns beside the UI's menu. */
const VIEW = { width: 1560, height: 1600 };
const MARGIN = 16;
/** On a busy machine the poster takes so long that an activity goes on with it: then another run is made. */
const MOST_RUNS = 8;
/** What the timeline's axis takes below its first bar. */
const AXIS = 100;

/** One node after the other makes its calls in the workflow task; two at once have activities. */
const WORKFLOW = {
  name: "Trailer",
  nodes: [
    { id: "writer", type: "llm-assistant", data: { model: "sandbox-chat", prompt: "A trailer for a film on weaving, in one sentence." } },
    { id: "poster", type: "generate-image", data: { model: "sandbox-image" } },
    { id: "video", type: "generate-video", data: { model: "sandbox-video", seconds: 1, prompt: "The film", sandbox: { latencyMs: 700 } } },
    { id: "music", type: "generate-audio", data: { model: "sandbox-music", prompt: "Its music", sandbox: { latencyMs: 400 } } },
    { id: "out", type: "response-output", data: {} },
  ],
  edges: [
    { source: "writer", sourceHandle: "text", target: "poster", targetHandle: "prompt" },
    { source: "poster", sourceHandle: "image", target: "video", targetHandle: "image" },
    { source: "poster", sourceHandle: "image", target: "music", targetHandle: "image" },
    { source: "poster", sourceHandle: "image", target: "out", targetHandle: "images" },
    { source: "video", sourceHandle: "video", target: "out", targetHandle: "videos" },
    { source: "music", sourceHandle: "audio", target: "out", targetHandle: "audios" },
  ],
};

const call = async (method, path, body) => {
  const headers = { "x-api-key": accounts.pro.apiKey, "content-type": "application/json" };
  const answer = await fetch(`${baseUrl}${path}`, { method, headers, ...(body === undefined ? {} : { body: JSON.stringify(body) }) });
  if (!answer.ok) throw new Error(`${method} ${path} answered ${answer.status}: ${await answer.text()}`);
  return { answer, json: answer.status === 204 ? null : await answer.json() };
};

const makeRun = async () => {
  const { json: workflow } = await call("POST", "/api/workflows", WORKFLOW);
  try {
    // The second one meets everything warm.
    await call("POST", `/api/workflows/${workflow.slug}/run`, { inputs: {} });
    return (await call("POST", `/api/workflows/${workflow.slug}/run`, { inputs: {} })).answer.headers.get("x-execution-id");
  } finally {
    await call("DELETE", `/api/workflows/${workflow.slug}`);
  }
};

const helper = fileURLToPath(new URL("test-support/chromium.mjs", ROOT));
const executablePath = process.env.CHROMIUM_PATH ?? execFileSync(process.execPath, [helper], { encoding: "utf8" });
let executionId;
const browser = await chromium.launch({ executablePath, args: ["--no-sandbox", "--headless=shell", "--disable-gpu", "--no-zygote"] });
try {
  const context = await browser.newContext({ viewport: VIEW, colorScheme: "light", reducedMotion: "reduce" });
  const { email, password } = accounts.admin;
  const signedIn = await context.request.post(`${baseUrl}/api/auth/login`, { data: { email, password }, headers: { origin: baseUrl } });
  if (!signedIn.ok()) throw new Error(`signing in answered ${signedIn.status()}`);
  const page = await context.newPage();
  const poster = page.getByText("shortJob", { exact: true }).first();
  for (let runs = 0; runs < MOST_RUNS; runs += 1) {
    executionId = await makeRun();
    await page.goto(`${temporalUiUrl}/namespaces/default/workflows/${executionId}`);
    await page.getByText("settle").first().waitFor({ timeout: 60_000 });
    await page.waitForTimeout(1_000);
    if (await poster.isVisible()) break;
  }
  // What a dot says only when it is chosen.
  await poster.click();
  await page.getByText("poster: sandbox-image").first().waitFor();
  // From the run's head down to the end of its timeline.
  const head = await page.getByText("Back to Workflows").boundingBox();
  const firstBar = await page.getByText("claim", { exact: true }).last().boundingBox();
  const [x, y] = [head.x - 2 * MARGIN, head.y + head.height + MARGIN / 2];
  await page.screenshot({ path: file, clip: { x, y, width: VIEW.width - x, height: firstBar.y + AXIS - y } });
} finally {
  await browser.close();
}
process.stdout.write(`${file}: ${executionId}\n`);
