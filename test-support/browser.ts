import { execFile } from "node:child_process";
import { existsSync } from "node:fs";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { chromium, type Browser, type BrowserContext, type Page } from "playwright-core";

const execute = promisify(execFile);
const KNOWN = [
  "/usr/bin/chromium",
  "/usr/bin/chromium-browser",
  "/usr/bin/google-chrome",
  "/Applications/Google Chrome.app/Contents/MacOS/Google Chrome",
];
const HELPER = join(__dirname, "chromium.mjs");
const AXE = readFileSync(require.resolve("axe-core/axe.min.js"), "utf8");
/** Time-out for elements that never appear, long enough for a busy machine. */
const PATIENCE_MS = 90_000;

/** A Chromium on this machine: from CHROMIUM_PATH, from npm (linux x64), or an installed one. */
const findChromium = async (): Promise<string | undefined> => {
  const { CHROMIUM_PATH } = process.env;
  if (CHROMIUM_PATH !== undefined) return CHROMIUM_PATH;
  if (process.platform === "linux" && process.arch === "x64") {
    const result = await execute(process.execPath, [HELPER], { cwd: __dirname }).catch(() => undefined);
    if (result && existsSync(result.stdout)) return result.stdout;
  }
  return KNOWN.find((path) => existsSync(path));
};

/** @throws if there is no browser */
export const launchBrowser = async (): Promise<Browser> => {
  const executablePath = await findChromium();
  if (executablePath === undefined) throw new Error("no Chromium was found: set CHROMIUM_PATH");
  return chromium.launch({ executablePath, args: ["--no-sandbox", "--headless=shell", "--disable-gpu", "--no-zygote"] });
};

export interface Visitor {
  context: BrowserContext;
  page: Page;
  /** Problems that no visit may have: script errors, violations of the security policy, and requests to other origins. */
  complaints: string[];
}

export interface VisitorOptions {
  baseUrl: string;
  width?: number;
  height?: number;
  theme?: "light" | "dark";
}

/** The browser's message for any error status. The page must handle the error. */
const IS_ANSWER = /Failed to load resource/;

/** Opens a browser window for a person. */
export const visit = async (
  browser: Browser,
  { baseUrl, width = 1440, height = 900, theme = "light" }: VisitorOptions,
): Promise<Visitor> => {
  const context = await browser.newContext({
    baseURL: baseUrl,
    viewport: { width, height },
    colorScheme: theme,
    reducedMotion: "reduce",
    permissions: ["clipboard-read", "clipboard-write"],
  });
  context.setDefaultTimeout(PATIENCE_MS);
  const page = await context.newPage();
  const complaints: string[] = [];
  page.on("pageerror", (error) => complaints.push(`script: ${error.message}`));
  page.on("console", (message) => {
    if (message.type() === "error" && !IS_ANSWER.test(message.text())) complaints.push(`console: ${message.text()}`);
  });
  page.on("request", (request) => {
    const url = request.url();
    if (!url.startsWith(baseUrl) && !/^(data|blob):/.test(url)) complaints.push(`request: ${url}`);
  });
  return { context, page, complaints };
};

interface AxeViolation {
  id: string;
  nodes: { html: string; failureSummary?: string }[];
}

/** axe findings on a page, one line per rule and element. */
export const accessibilityProblems = async (page: Page): Promise<string[]> => {
  await page.evaluate(AXE);
  const violations = (await page.evaluate("axe.run(document).then(({ violations }) => violations)")) as AxeViolation[];
  return violations.flatMap(({ id, nodes }) =>
    nodes.map(({ html, failureSummary = "" }) => `${id}: ${html.slice(0, 160)} ${failureSummary.slice(0, 200)}`),
  );
};

const STILL = `new Promise((resolve) => {
  const { style } = document.querySelector(".react-flow__viewport");
  let [seen, since] = [style.transform, performance.now()];
  const look = () => {
    if (style.transform !== seen) [seen, since] = [style.transform, performance.now()];
    if (performance.now() - since >= 300) resolve();
    else requestAnimationFrame(look);
  };
  look();
})`;

/** Resolves once the canvas hasn't moved for longer than a movement takes to start, because a moving target can't be clicked. */
export const canvasStands = async (page: Page): Promise<void> => void (await page.evaluate(STILL));
