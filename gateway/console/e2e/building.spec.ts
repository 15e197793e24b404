import { expect, test, type Page } from "@playwright/test";
import { accessibilityProblems, canvasStands } from "../../../test-support/browser";
import { eventually, type Account } from "../../../test-support/client";
import { edge, middleOf, NODE, nodeAt, nodes, saved } from "./support/canvas";
import { handOf } from "./support/hand";
import { setStage } from "./support/stage";

/** `npm run drill console`: building by a person who knows other editors. */
const stage = setStage();
let account: Account;
test.beforeAll(async () => {
  account = await stage.http.account({ tier: "enterprise" });
});

const GRAPH = {
  nodes: [
    nodeAt(
      "in",
      "request-input",
      { x: 0, y: 0 },
      { fields: [{ name: "prompt", type: "text", label: "Prompt" }], values: { prompt: "boats" } },
    ),
    nodeAt("picture", "generate-image", { x: 400, y: 0 }, { model: "sandbox-image", inputs: {} }),
    nodeAt("end", "response-output", { x: 800, y: 0 }),
  ],
  edges: [edge("in.prompt", "picture.prompt"), edge("picture.image", "end.images")],
};
interface SavedGraph {
  nodes: { id: string; position: { x: number; y: number }; data: Record<string, unknown> }[];
  edges: { source: string; sourceHandle: string; target: string; targetHandle: string }[];
}
const read = async (slug: string): Promise<SavedGraph> =>
  (await stage.http.call("GET", `/api/workflows/${slug}`, { key: account.key })).body as unknown as SavedGraph;

const onCanvas = (name: string, query: string, act: (page: Page, slug: string) => Promise<void>): void =>
  test(name, async () => {
    const { body } = await stage.http.call("POST", "/api/workflows", { key: account.key, body: { name: "Building", ...GRAPH } });
    const { page, context, complaints } = await stage.signedIn(account);
    await page.goto(`/workflows/${String(body.slug)}${query}`);
    await nodes(page, GRAPH.nodes.length);
    await canvasStands(page);
    await act(page, String(body.slug));
    expect(complaints).toEqual([]);
    await context.close();
  });

const port = (node: string, name: string, side: "source" | "target"): string =>
  `${NODE}[data-id="${node}"] .react-flow__handle.${side}[data-handleid="${name}"]`;
const ends = ({ edges }: SavedGraph): string[] => edges.map((one) => `${one.source}.${one.sourceHandle} ${one.target}.${one.targetHandle}`);

onCanvas("a renamed input keeps its links and its saved value, and undo reverts the rename", "?node=in", async (page, slug) => {
  const name = page.getByRole("textbox", { name: "Name", exact: true });
  await name.fill("");
  await page.getByText("Enter a name.").waitFor();
  await page.keyboard.type("subject");
  await saved(page);
  const renamed = await read(slug);
  expect(ends(renamed)).toEqual(["in.subject picture.prompt", "picture.image end.images"]);
  expect(renamed.nodes[0]!.data.values).toEqual({ subject: "boats" });
  await page.getByRole("button", { name: "Undo: Edit inputs" }).click();
  await eventually(async () => ends(await read(slug)).includes("in.prompt picture.prompt"));
});

onCanvas("an input can't take another one's name, and a new one gets a name at once", "?node=in", async (page, slug) => {
  await page.getByRole("button", { name: "Add input" }).click();
  await page.keyboard.type("prompt");
  await page.getByText("Another input has this name.").waitFor();
  await page.keyboard.type("2");
  await saved(page);
  const [input] = (await read(slug)).nodes;
  expect((input!.data.fields as { name: string }[]).map(({ name }) => name)).toEqual(["prompt", "prompt2"]);
});

onCanvas("text typed after adding an item becomes the item", "", async (page, slug) => {
  const { press, type } = handOf(page);
  await press("/");
  await type("list");
  await press("Enter");
  await nodes(page, 4);
  for (const item of ["late", "early"]) {
    await page.getByRole("button", { name: "Add item" }).click();
    await type(item);
  }
  await saved(page);
  expect((await read(slug)).nodes.find(({ id }) => id === "list")!.data.items).toEqual(["late", "early"]);
});

onCanvas("an invalid number is reported, not ignored", "?node=picture", async (page, slug) => {
  await page.getByText("Advanced", { exact: true }).click();
  const seed = page.getByLabel("Seed", { exact: true });
  await seed.fill("12");
  await seed.fill("12 or so");
  await page.getByText("Enter a number. The last valid").waitFor();
  expect(await seed.getAttribute("aria-invalid")).toBe("true");
  await saved(page);
  expect((await read(slug)).nodes[1]!.data.inputs).toEqual({ seed: 12 });
  await seed.fill("13");
  await page.getByText("Enter a number. The last valid").waitFor({ state: "detached" });
});

onCanvas("an impossible link shows the reason, and an existing one stays", "", async (page, slug) => {
  const { drag } = handOf(page);
  const before = await read(slug);
  await drag(await middleOf(page, port("picture", "image", "source")), await middleOf(page, port("end", "text", "target")));
  await page.getByText("“text” accepts text, but “image” outputs image.").waitFor();
  await drag(await middleOf(page, port("end", "images", "target")), await middleOf(page, port("picture", "prompt", "target")));
  await page.getByText(/Connect an output to an input|“prompt” accepts text, but “image” outputs image/).waitFor();
  await page.waitForTimeout(1_500);
  expect(ends(await read(slug))).toEqual(ends(before));
});

onCanvas("nodes are found by their names in other editors", "", async (page) => {
  await page.keyboard.press("/");
  const search = page.getByRole("combobox");
  for (const [words, title] of [
    ["text to image", "Image"],
    ["ksampler", "Image"],
    ["tts", "Audio"],
    ["join text", "Text"],
    ["loop", "Loop"],
    ["load image", "File"],
    ["trigger", "Inputs"],
    ["clip text encode", "Text"],
    ["save image", "Results"],
    // An exact match comes before nodes that create, take or show one.
    ["image", "Image"],
    ["if", "Switch"],
  ] as const) {
    await search.fill(words);
    await eventually(async () => (await page.getByRole("option").first().innerText()).startsWith(title));
  }
  await search.fill("cron");
  await page.getByText(/Schedules and hooks, in the menu/).waitFor();
});

onCanvas("nodes added near one another stay apart when a run shows their results", "?node=picture", async (page) => {
  const { press, type } = handOf(page);
  // Added twice beside the same node: the second is placed below the first.
  for (const count of [4, 5]) {
    await page.locator(`${NODE}[data-id="picture"]`).click({ position: { x: 60, y: 20 } });
    await press("a");
    await type("results");
    await press("Enter");
    await nodes(page, count);
  }
  await saved(page);
  await press("Control+Enter");
  await page.getByLabel("Prompt").fill("boats");
  await page.getByTestId("run").click();
  await page.locator(`${NODE}[data-id="output-2"] img`).first().waitFor();
  await canvasStands(page);
  const boxes = JSON.parse(
    await page.evaluate(
      `JSON.stringify([...document.querySelectorAll("${NODE}")].map((one) => { const { left, right, top, bottom } = one.getBoundingClientRect(); return { id: one.dataset.id, left, right, top, bottom }; }))`,
    ),
  ) as { id: string; left: number; right: number; top: number; bottom: number }[];
  const over = boxes.flatMap((a, at) =>
    boxes
      .slice(at + 1)
      .filter((b) => a.left < b.right && b.left < a.right && a.top < b.bottom && b.top < a.bottom)
      .map((b) => `${a.id} ${b.id}`),
  );
  expect(over).toEqual([]);
});

test("right-to-left text is displayed correctly", async () => {
  const text = "שלום, עולם!";
  const graph = {
    nodes: [nodeAt("words", "text-box", { x: 0, y: 0 }, { text }), nodeAt("note", "note", { x: 0, y: 300 }, { text })],
    edges: [],
  };
  const { body } = await stage.http.call("POST", "/api/workflows", { key: account.key, body: { name: text, description: text, ...graph } });
  const { page, context } = await stage.signedIn(account);
  const directions = (selector: string): Promise<string[]> =>
    page.evaluate(`[...document.querySelectorAll('${selector}')].map((one) => getComputedStyle(one).direction)`);
  await page.goto("/");
  const card = page.getByRole("link", { name: text });
  await card.waitFor();
  expect(await directions(`a[href="/workflows/${String(body.slug)}"] span`)).toEqual(["rtl"]);
  await card.click();
  await nodes(page, 2);
  await page.locator(`${NODE}[data-id="words"]`).click();
  await page.getByRole("textbox", { name: "Text", exact: true }).waitFor();
  expect(await directions(`${NODE} .node-well, ${NODE}[data-id="note"] [dir]`)).toEqual(["rtl", "rtl"]);
  expect(await directions('aside [role="tabpanel"] textarea')).toContain("rtl");
  await context.close();
});

test("on a phone the nodes are visible above the panel during a run", async () => {
  const { body } = await stage.http.call("POST", "/api/workflows", { key: account.key, body: { name: "Phone", ...GRAPH } });
  const { page, context } = await stage.signedIn(account, { width: 390, height: 844 });
  await page.goto(`/workflows/${String(body.slug)}`);
  await nodes(page, GRAPH.nodes.length);
  await page.keyboard.press("Control+Enter");
  const panel = page.getByRole("complementary", { name: "Side panel" });
  await panel.waitFor();
  await canvasStands(page);
  const { y } = (await panel.boundingBox())!;
  for (const node of await page.locator(NODE).all()) {
    const box = (await node.boundingBox())!;
    expect(box.y + box.height).toBeLessThanOrEqual(y);
  }
  await context.close();
});

test("on a phone a row of the audit is fully visible", async () => {
  const { page, context } = await stage.signedIn(stage.platform.admin, { width: 390, height: 844 });
  await page.goto("/admin/audit");
  await page.getByText("user.update").first().waitFor();
  const widths = JSON.parse(
    await page.evaluate(
      `(() => { const { scrollWidth, clientWidth } = document.querySelector("[aria-label=\\"Audit log\\"]"); return JSON.stringify([scrollWidth, clientWidth]); })()`,
    ),
  ) as [number, number];
  expect(widths[0]).toBeLessThanOrEqual(widths[1]);
  await context.close();
});

test("a user who awaits approval sees the approval on the open page", async () => {
  const waiting = { email: "waiting@example.com", password: "a long password" };
  const { page, context } = await stage.visit();
  await page.goto("/");
  await page.getByRole("button", { name: "Create account" }).click();
  await page.getByLabel("Email").fill(waiting.email);
  await page.getByLabel("Password").fill(waiting.password);
  await page.keyboard.press("Enter");
  const notice = page.getByText("Your account awaits approval");
  await notice.waitFor();
  const admin = await stage.signedIn(stage.platform.admin);
  await admin.page.goto("/admin/users");
  await admin.page
    .getByRole("row", { name: /waiting@example/ })
    .getByRole("button", { name: "Approve" })
    .click();
  await notice.waitFor({ state: "detached", timeout: 30_000 });
  await context.close();
  await admin.context.close();
});

test("in the browser of a suspended account another account can sign in", async () => {
  const otherAccount = await stage.http.account({ tier: "pro" });
  const { page, context } = await stage.signedIn(otherAccount);
  await page.goto("/");
  await page.getByRole("heading", { name: "Workflows", level: 1 }).waitFor();
  const suspended = await stage.http.asAdmin("PATCH", `/api/admin/users/${otherAccount.userId}`, { suspended: true });
  expect(suspended.status).toBe(200);
  await page.reload();
  await page.getByText("Your account is suspended").waitFor();
  expect(await accessibilityProblems(page)).toEqual([]);
  await page.getByLabel("Email").fill(account.email);
  await page.getByLabel("Password").fill(account.password);
  await page.getByRole("button", { name: "Sign in", exact: true }).click();
  await page.getByRole("heading", { name: "Workflows", level: 1 }).waitFor();
  await context.close();
});

test("a node shows its model and its prompt on separate lines", async () => {
  const graph = {
    nodes: [nodeAt("picture", "generate-image", { x: 0, y: 0 }, { model: "sandbox-image", inputs: { prompt: "boats" } })],
    edges: [],
  };
  const { body } = await stage.http.call("POST", "/api/workflows", { key: account.key, body: { name: "Lines", ...graph } });
  const { page, context } = await stage.signedIn(account);
  await page.goto(`/workflows/${String(body.slug)}`);
  await nodes(page, 1);
  expect(await page.locator(`${NODE} .node-line`).textContent()).toBe("Sandbox Image");
  expect(await page.locator(`${NODE} .node-well`).textContent()).toBe("boats");
  await context.close();
});

test("the palette accepts text before its choices have loaded, and then shows only matching ones", async () => {
  const { body } = await stage.http.call("POST", "/api/workflows", { key: account.key, body: { name: "In a hurry" } });
  const { page, context, complaints } = await stage.signedIn(account);
  let release = (): void => undefined;
  const released = new Promise<void>((resolve) => (release = resolve));
  await page.route(/\/assets\/palette-[^/]*\.js$/, async (route) => {
    await released;
    await route.continue();
  });
  await page.goto(`/workflows/${String(body.slug)}`);
  await page.getByRole("button", { name: "Add your first node" }).waitFor();
  await page.keyboard.press("/");
  await page.keyboard.type("results");
  expect(await page.getByRole("combobox").inputValue()).toBe("results");
  await page.keyboard.press("Enter");
  expect(await page.getByRole("option").count()).toBe(0);
  release();
  await nodes(page, 1);
  expect(await page.locator(NODE).innerText()).toContain("Results");
  expect(complaints).toEqual([]);
  await context.close();
});
