import type { Browser, Page } from "playwright-core";
import { launchBrowser, visit } from "./support/browser";
import { clientOf } from "./support/client";
import { startPlatform, type Platform } from "./support/platform";

let platform: Platform;
let browser: Browser;
let http: ReturnType<typeof clientOf>;

beforeAll(async () => {
  browser = await launchBrowser();
  platform = await startPlatform();
  http = clientOf(platform);
});
afterAll(async () => {
  await browser?.close();
  await platform?.stop();
});

/** Addresses of the stored pictures in a part of the page that are decoded, once there is one. */
const shownIn = async (page: Page, part: string): Promise<string[]> => {
  const images = page.locator(`${part} img[src*="/media/"]`);
  await images.first().waitFor();
  await page.waitForFunction(
    (selector) => [...document.querySelectorAll<HTMLImageElement>(selector)].every((image) => image.complete && image.naturalWidth > 0),
    `${part} img[src*="/media/"]`,
  );
  return images.evaluateAll((all) => all.map((image) => (image as HTMLImageElement).currentSrc));
};

const statusOf = async (url: string): Promise<number> => (await fetch(url)).status;

it("shows the private pictures of a run on the canvas, in the run panel and among the files, also after a reload", async () => {
  const account = await http.account({ tier: "pro" });
  const nodes = [
    {
      id: "pic",
      type: "generate-image",
      position: { x: 0, y: 0 },
      data: { model: "sandbox-image-fast", inputs: { prompt: "a loom", sandbox: { latencyMs: 10 } } },
    },
    { id: "out", type: "response-output", position: { x: 400, y: 0 }, data: {} },
  ];
  const edges = [{ id: "e", source: "pic", sourceHandle: "image", target: "out", targetHandle: "images" }];
  const { body } = await http.call("POST", "/api/workflows", { key: account.key, body: { name: "Pictures", nodes, edges } });
  const slug = String(body.slug);
  const ran = await http.call("POST", `/api/workflows/${slug}/run`, { key: account.key, body: { inputs: {} } });
  expect(ran.status).toBe(200);
  const { page, complaints } = await visit(browser, { baseUrl: platform.baseUrl });
  await page.goto("/");
  await page.getByLabel("Email").fill(account.email);
  await page.getByLabel("Password").fill(account.password);
  await page.getByRole("button", { name: "Sign in" }).click();
  await page.getByRole("heading", { name: "Workflows" }).waitFor();

  await page.goto(`/workflows/${slug}?run=${ran.headers.get("x-execution-id") ?? ""}&panel=run`);
  const places = [".react-flow__node", "section[aria-label=Run]"];
  const seen: string[] = [];
  for (const place of places) seen.push(...(await shownIn(page, place)));
  await page.reload();
  for (const place of places) seen.push(...(await shownIn(page, place)));
  await page.goto("/files");
  seen.push(...(await shownIn(page, "main")));
  for (const url of seen) {
    expect(url).toMatch(/[?&]e=\d+&s=[\w-]{43}/);
    expect(await statusOf(url.split("?")[0]!)).toBe(403);
  }
  expect(complaints).toEqual([]);
});
