import { expect, test } from "@playwright/test";
import { eventually, type Account } from "../../../test-support/client";
import { accessibilityProblems } from "../../../test-support/browser";
import { edge, nodeAt, NODE, nodes } from "./support/canvas";
import { setStage } from "./support/stage";

/** `npm run drill console`: details that people notice only when they are missing. */
const UNBROKEN = "AnUnbrokenName".repeat(7);
const TITLES: readonly (readonly [string, string])[] = [
  ["/", "Workflows"],
  ["/executions", "Runs"],
  ["/usage", "Usage"],
  ["/keys", "API keys"],
  ["/webhooks", "Webhooks"],
  ["/secrets", "Secrets"],
  ["/agents", "Connect an agent"],
  ["/models", "Models"],
  ["/account", "Account"],
  ["/plans", "Plans"],
  ["/balance", "Balance"],
  ["/history", "History"],
];

interface Edges {
  right: number;
  bottom: number;
}

const stage = setStage();
let account: Account;
let slug: string;
test.beforeAll(async () => {
  account = await stage.http.account({ tier: "enterprise" });
  const graph = {
    nodes: [
      nodeAt("wide", "text-box", { x: 0, y: 0 }, { text: "x", label: UNBROKEN }),
      nodeAt("next", "text-box", { x: 300, y: 0 }, { text: "{{a}}" }),
      nodeAt("far", "text-box", { x: 9_000, y: 0 }, { text: "x" }),
    ],
    edges: [edge("wide.text", "next.a")],
  };
  const body = { name: "Corners", isTemplate: true, ...graph };
  slug = String((await stage.http.call("POST", "/api/workflows", { key: account.key, body })).body.slug);
});

test("one Escape closes a dialog, also while a tooltip is shown, and tooltips are above dialogs", async () => {
  const { page, context, complaints } = await stage.signedIn(account);
  await page.goto(`/workflows/${slug}`);
  await nodes(page, 2);
  const dialog = page.getByRole("dialog", { name: "Keyboard shortcuts" });
  const tip = dialog.getByText("Close", { exact: true });
  await page.keyboard.press("?");
  // The close button has the focus, so its tooltip is visible.
  await tip.waitFor();
  await page.keyboard.press("Escape");
  await dialog.waitFor({ state: "detached", timeout: 2_000 });
  expect(complaints).toEqual([]);
  await context.close();
});

test("an administrator's list of templates with one entry has no axe findings", async () => {
  const { page, context } = await stage.signedIn(stage.platform.admin);
  await page.goto("/admin/templates");
  await page.getByRole("link", { name: "Corners" }).waitFor();
  expect(await accessibilityProblems(page)).toEqual([]);
  await context.close();
});

test("zoomed out, a long name stays within its node", async () => {
  const { page, context } = await stage.signedIn(account);
  await page.goto(`/workflows/${slug}`);
  await nodes(page, 2);
  await page.locator('.board:not([data-far="0"])').waitFor();
  // Measured in a single step, because the view can still move.
  const { spills, card, title } = (await page.evaluate(`(() => {
    const card = document.querySelector('${NODE}[data-id="wide"]');
    const title = card.querySelector(".node-title");
    const edges = (element) => { const { right, bottom } = element.getBoundingClientRect(); return { right, bottom }; };
    const spills = getComputedStyle(title).overflow === "visible" && title.scrollWidth > title.clientWidth;
    return { spills, card: edges(card), title: edges(title) };
  })()`)) as { spills: boolean; card: Edges; title: Edges };
  expect(spills).toBe(false);
  expect(title.right).toBeLessThanOrEqual(card.right);
  expect(title.bottom).toBeLessThanOrEqual(card.bottom);
  await context.close();
});

test("the browser's tab is named after the page", async () => {
  const { page, context } = await stage.visit();
  await page.goto("/");
  await eventually(async () => (await page.title()) === "Sign in · Nodeloom");
  await context.close();
  const visitor = await stage.signedIn(account);
  for (const [path, title] of [...TITLES, [`/workflows/${slug}`, "Corners"], ["/nowhere", "Page not found"]] as const) {
    await visitor.page.goto(path);
    await eventually(async () => (await visitor.page.title()) === `${title} · Nodeloom`);
  }
  await visitor.context.close();
});

test("pages for missing things have a heading and no accessibility problems", async () => {
  const { page, context } = await stage.signedIn(account);
  for (const path of [
    "/nowhere",
    "/workflows/nothing",
    "/executions/nothing",
    "/models/nothing",
    "/webhooks/nothing",
    "/keys/nothing",
    "/admin/users",
    "/p/nothing",
  ]) {
    await page.goto(path);
    await page.getByRole("heading", { level: 1 }).waitFor();
    expect([path, ...(await accessibilityProblems(page))]).toEqual([path]);
  }
  await context.close();
});

test("on a phone the selected tab of a row is in view", async () => {
  const { page, context } = await stage.signedIn(stage.platform.admin, { width: 390 });
  for (const [path, name] of [
    ["/admin/audit", "Audit log"],
    ["/?show=hidden", "Hidden"],
  ] as const) {
    await page.goto(path);
    const tab = page.locator("nav [aria-current=page]", { hasText: name });
    await tab.waitFor();
    expect(await page.locator("main nav [aria-current=page]").count()).toBe(1);
    await page.waitForTimeout(100);
    const box = (await tab.boundingBox())!;
    expect(box.x).toBeGreaterThanOrEqual(0);
    expect(box.x + box.width).toBeLessThanOrEqual(390);
  }
  await context.close();
});

test("a page opened first without a network reports that the service can't be reached, and opens when the network returns", async () => {
  const { page, context, complaints } = await stage.signedIn(account);
  await page.goto(`/workflows/${slug}`);
  await nodes(page, 2);
  await context.setOffline(true);
  await page.evaluate(`history.pushState({}, "", "/keys"); dispatchEvent(new PopStateEvent("popstate"))`);
  await page.getByText(/Can't reach the service/).waitFor();
  await context.setOffline(false);
  await page.getByRole("button", { name: "Try again" }).click();
  await page.getByRole("heading", { name: "API keys", level: 1 }).waitFor();
  expect(complaints.filter((one) => !/dynamically imported|Couldn't load/.test(one))).toEqual([]);
  await context.close();
});

test("the first offered key can follow the runs that it starts", async () => {
  const { page, context } = await stage.signedIn(account);
  await page.goto("/keys");
  await page.getByRole("button", { name: "New key" }).first().click();
  await page.getByLabel("Name", { exact: true }).fill("Follows");
  await page.getByRole("dialog").getByRole("button", { name: "Create key" }).click();
  const key = (await page.getByRole("region", { name: "API key", exact: true }).innerText()).trim();
  const { status, body } = await stage.http.call("POST", `/api/workflows/${slug}/run?async=true`, { key, body: { inputs: {} } });
  expect(status).toBe(202);
  expect((await stage.http.call("GET", `/api/executions/${String(body.executionId)}`, { key })).status).toBe(200);
  await context.close();
});
