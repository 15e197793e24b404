import { expect, test, type Page } from "@playwright/test";
import type { Account } from "../../../test-support/client";
import { accessibilityProblems } from "../../../test-support/browser";
import { startRecorder, type Recorder } from "../../../test-support/recorder";
import { setStage } from "./support/stage";

/** `npm run drill console`: an app that is published in the console, embedded in a page of another site, and used without an account. */

const MB = 1_000_000;
const PHONE = { width: 390, height: 844 };

const stage = setStage();
const sites: Recorder[] = [];
test.afterAll(() => Promise.all(sites.map((site) => site.close())));

/** A separate site: another port is another origin. */
const site = async (html: () => string): Promise<string> => {
  const started = await startRecorder((response) => response.setHeader("content-type", "text/html").end(html()));
  sites.push(started);
  return started.url;
};

const picture = async (page: Page, name: string): Promise<void> => {
  const { PICTURES } = process.env;
  if (PICTURES) await page.screenshot({ path: `${PICTURES}/${name}.png`, fullPage: true });
};

const node = (id: string, type: string, data: object): object => ({ id, type, data, position: { x: 0, y: 0 } });
const edge = (source: string, sourceHandle: string, target: string, targetHandle: string): object => ({
  ...{ id: `${source}-${target}`, source, sourceHandle, target, targetHandle },
});
const FIELDS = [{ name: "prompt", type: "text", label: "What to draw", default: "a paper boat", required: true }];

const createWorkflow = async (account: Account): Promise<{ slug: string; price: number }> => {
  const body = {
    name: "Boats",
    description: "Draws what you say.",
    nodes: [
      node("in", "request-input", { fields: FIELDS }),
      node("draw", "generate-image", { model: "sandbox-image" }),
      node("out", "response-output", {}),
    ],
    edges: [edge("in", "prompt", "draw", "prompt"), edge("draw", "image", "out", "images")],
  };
  const call = async (path: string, content: object) => (await stage.http.call("POST", path, { key: account.key!, body: content })).body;
  const slug = String((await call("/api/workflows", body)).slug);
  const quote = () => call(`/api/workflows/${slug}/quote`, { inputs: {} });
  // Runs paid by trial grants don't count towards budgets.
  const [grant] = (await quote()).grants as { remaining: number }[];
  for (let left = (grant?.remaining ?? -1) + 1; left > 0; left -= 1) await call(`/api/workflows/${slug}/run`, { inputs: {} });
  return { slug, price: Number((await quote()).estimatedCreditCost) };
};

/** Publishes a workflow in the console, as its owner. */
const publish = async (account: Account, slug: string, { credits, origin }: { credits: number; origin: string }): Promise<void> => {
  const { page, context, complaints } = await stage.signedIn(account);
  await page.goto(`/workflows/${slug}`);
  await page.locator(".react-flow__node").first().waitFor();
  await page.getByRole("button", { name: "Menu", exact: true }).click();
  await page.getByRole("menuitem", { name: "Publish as an app…" }).click();
  const dialog = page.getByRole("dialog");
  await dialog.getByLabel("Credits per day").fill(String(credits));
  await dialog.getByLabel("Sites that can embed it").fill(origin);
  await picture(page, "app-dialog-new");
  await dialog.getByRole("button", { name: "Publish", exact: true }).click();
  await dialog.getByText("Spent today").waitFor();
  await dialog.getByRole("region", { name: "Embed code" }).waitFor();
  const preview = page.frameLocator("iframe[title='Preview of the embedded app']");
  await preview.getByLabel("What to draw").waitFor();
  await preview.getByRole("button", { name: "Run", exact: true }).waitFor();
  await picture(page, "app-dialog");
  expect(await accessibilityProblems(page)).toEqual([]);
  expect(complaints).toEqual([]);
  await context.close();
};

let account: Account;
let slug: string;
let shop: string;
let stranger: string;
const embedding = (): string =>
  `<!doctype html><html lang="en"><title>A shop</title><h1>A shop</h1><script src="${stage.platform.baseUrl}/embed.js" data-app="${slug}"></script></html>`;

test.beforeAll(async () => {
  account = await stage.http.account({ tier: "pro" });
  [shop, stranger] = await Promise.all([site(embedding), site(embedding)]);
  const workflow = await createWorkflow(account);
  slug = workflow.slug;
  expect(workflow.price).toBeGreaterThan(0);
  await publish(account, slug, { credits: workflow.price * 2, origin: shop });
});

test("a visitor runs an app on another site within its daily budget, and is rejected beyond it", async () => {
  const { page, context } = await stage.visit();
  const blocked: string[] = [];
  page.on("console", (message) => {
    if (/Content.Security.Policy|frame-ancestors/i.test(message.text())) blocked.push(message.text());
  });
  await page.goto(shop);
  const app = page.frameLocator("iframe");
  for (const run of [1, 2]) {
    await app.getByLabel("What to draw").fill(`boat number ${run}`);
    await app.getByRole("button", { name: "Run", exact: true }).click();
    await app.getByRole("link", { name: "Download result 1" }).first().waitFor();
    await app.getByRole("button", { name: "Run", exact: true }).waitFor();
  }
  await picture(page, "app-embedded");
  const [height, frameHeight] = await Promise.all([
    app.locator("#root").evaluate((root) => root.getBoundingClientRect().height),
    page.locator("iframe").evaluate((frame) => frame.getBoundingClientRect().height),
  ]);
  expect(Math.abs(height - frameHeight)).toBeLessThan(4);

  await app.getByRole("button", { name: "Run", exact: true }).click();
  await app.getByText("The daily limit of this app is reached. Try again tomorrow.").waitFor();
  await app.getByText(/visitors together have 0 of/).waitFor();
  expect(blocked).toEqual([]);
  await context.close();
});

test("its token reads and runs only from the app's origin, and does nothing else there", async () => {
  const { page, context } = await stage.visit();
  await page.goto(shop);
  const base = stage.platform.baseUrl;
  const answer = await page.evaluate(
    async ([at, which]) => {
      const { token } = (await (await fetch(`${at}/api/apps/${which}/token`, { method: "POST" })).json()) as { token: string };
      const headers = { authorization: `Bearer ${token}`, "content-type": "application/json" };
      const ask = (path: string, init: RequestInit = {}): Promise<number | string> =>
        fetch(`${at}${path}`, { headers, ...init }).then(
          ({ status }) => status,
          () => "not readable",
        );
      const json = { method: "POST", body: JSON.stringify({ inputs: {} }) };
      return {
        token,
        run: await ask(`/api/workflows/${which}/run`, json),
        list: await ask("/api/executions"),
        workflows: await ask("/api/workflows"),
        whoami: await ask("/api/whoami"),
        change: await ask(`/api/workflows/${which}`, { method: "PUT", body: "{}" }),
        withCookies: await ask("/api/executions", { credentials: "include" }),
      };
    },
    [base, slug] as const,
  );
  expect(answer).toMatchObject({
    ...{ run: 402, list: 200 },
    ...{ workflows: "not readable", whoami: "not readable", change: "not readable", withCookies: "not readable" },
  });

  await page.goto(stranger);
  const spoofed = await page.evaluate(
    ([at, token]) =>
      fetch(`${at}/api/executions`, { headers: { authorization: `Bearer ${token}` } }).then(
        ({ status }) => status as number | string,
        () => "not readable",
      ),
    [base, answer.token] as const,
  );
  expect(spoofed).toBe("not readable");
  // Other sites can't show the app.
  await expect(page.frameLocator("iframe").getByLabel("What to draw").waitFor({ timeout: 3_000 })).rejects.toThrow();
  await context.close();
});

test("its page works on a phone, in both themes, without axe findings, and keeps results", async () => {
  for (const theme of ["light", "dark"] as const) {
    const { page, context, complaints } = await stage.visit({ ...PHONE, theme });
    let bytes = 0;
    page.on("response", (response) => {
      if (/\/(?:assets|a)\//.test(new URL(response.url()).pathname))
        void response
          .request()
          .sizes()
          .then(
            ({ responseBodySize }) => (bytes += responseBodySize),
            () => undefined,
          );
    });
    await page.goto(`/a/${slug}`);
    await page.getByText("The owner of this app pays for your runs.", { exact: false }).first().waitFor();
    expect(await page.evaluate("document.documentElement.scrollWidth")).toBeLessThanOrEqual(PHONE.width);
    expect(await accessibilityProblems(page)).toEqual([]);
    await picture(page, `app-phone-${theme}`);
    process.stdout.write(`an app's page is ${Math.round(bytes / 1_000)} kB on the wire, fonts and all\n`);
    expect(bytes).toBeLessThan(MB / 4);
    expect(complaints).toEqual([]);
    await context.close();
  }
  const { page, context } = await stage.visit();
  await page.goto(`/apps/${account.userId}`);
  await page.getByRole("link", { name: /Boats/ }).click();
  await page.getByRole("heading", { name: "Boats" }).waitFor();
  await context.close();
});

test("stops working as soon as its owner turns it off", async () => {
  const { page, context } = await stage.signedIn(account);
  await page.goto(`/workflows/${slug}`);
  await page.locator(".react-flow__node").first().waitFor();
  await page.getByRole("button", { name: "Menu", exact: true }).click();
  await page.getByRole("menuitem", { name: "Publish as an app…" }).click();
  await page.getByRole("button", { name: "Unpublish" }).click();
  await page.getByRole("button", { name: "Publish", exact: true }).waitFor();
  await page.waitForTimeout(1_000);
  const answer = await page.goto(`/a/${slug}`);
  expect(answer!.status()).toBe(404);
  await page.getByRole("heading", { name: "App not found" }).waitFor();
  await context.close();
});
