// Takes the pictures of the documentation from a running platform: node gateway/console/pictures.mjs
// Needs `npm start` in this checkout and a Chromium (CHROMIUM_PATH, or the one that npm brought).
import { readFileSync } from "node:fs";
import { join } from "node:path";
import sparticuz from "@sparticuz/chromium";
import { chromium } from "playwright-core";

const ROOT = join(import.meta.dirname, "..", "..");
const PICTURES = join(ROOT, "docs", "guide", "pictures");
const WORKFLOW = "storyboard";
const RUN_MS = 120_000;
const SETTLE_MS = 2_000;

const local = JSON.parse(readFileSync(join(ROOT, ".nodeloom", "local.json"), "utf8"));
const executablePath = process.env.CHROMIUM_PATH ?? (await sparticuz.executablePath());
const browser = await chromium.launch({ executablePath, args: ["--no-sandbox", "--headless=shell", "--disable-gpu", "--no-zygote"] });

/** @param {"light" | "dark"} theme */
const take = async (theme) => {
  const context = await browser.newContext({
    baseURL: local.baseUrl,
    viewport: { width: 1440, height: 810 },
    colorScheme: theme,
    reducedMotion: "reduce",
  });
  const page = await context.newPage();
  page.setDefaultTimeout(RUN_MS);
  const { email, password } = local.accounts.pro;
  await context.request.post("/api/auth/login", { data: { email, password }, headers: { origin: local.baseUrl } });
  await page.goto(`/workflows/${WORKFLOW}`);
  await page.locator(".react-flow__node").first().waitFor();
  await page.locator("header").getByRole("button", { name: "Run", exact: true }).click();
  await page.getByTestId("run").click();
  await page.locator("section[aria-label=Run] header").getByText("Completed", { exact: true }).waitFor();
  await page.locator(".react-flow__node img").first().waitFor();
  // Without the panel the nodes are near enough to be read.
  await page
    .locator("header")
    .getByRole("button", { name: /side panel/ })
    .click();
  await page.getByRole("button", { name: "Tidy up" }).click();
  await page.getByRole("button", { name: "Fit to screen" }).click();
  await page.getByText("Saved").waitFor();
  await page.waitForLoadState("networkidle");
  await page.mouse.move(700, 600);
  // Videos are drawn with their first frame.
  await page.waitForTimeout(SETTLE_MS);
  await page.screenshot({ path: join(PICTURES, `canvas-${theme}.png`), animations: "disabled" });
  await context.close();
};

await take("light");
await take("dark");
await browser.close();
