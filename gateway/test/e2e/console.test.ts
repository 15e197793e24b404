import { execFile } from "node:child_process";
import { promisify } from "node:util";
import type { Browser, Page } from "playwright-core";
import { accessibilityProblems, canvasStands, launchBrowser, visit } from "../../../test-support/browser";
import { call, clientOf } from "../../../test-support/client";
import { startPlatform, type Platform } from "../../../test-support/platform";

const execute = promisify(execFile);
const PASSWORD = "correct horse battery staple";
const NODE = ".react-flow__node";

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

const inBrowser = (name: string, test: (browser: Browser) => Promise<void>): void => it(name, () => test(browser));

const signIn = async (page: Page, email: string, password: string): Promise<void> => {
  await page.goto("/");
  await page.getByLabel("Email").fill(email);
  await page.getByLabel("Password").fill(password);
  await page.getByRole("button", { name: "Sign in" }).click();
  await page.getByRole("heading", { name: "Workflows" }).waitFor();
};

const printed = async (command: string, args: readonly string[]): Promise<string> => (await execute(command, [...args])).stdout;

/** Chooses an entry of the open palette. */
const choose = async (page: Page, words: string): Promise<void> => {
  await page.getByPlaceholder("Search nodes and models").fill(words);
  await page.keyboard.press("Enter");
};

const countNodes = async (page: Page, count: number): Promise<void> => {
  await page
    .locator(NODE)
    .nth(count - 1)
    .waitFor();
};

/** Shows all nodes and waits until the view stops moving, because a moving target can't be clicked. */
const showAll = async (page: Page): Promise<void> => {
  await page.getByRole("button", { name: "Fit to screen" }).click();
  await canvasStands(page);
};

/** Drags from a port to an empty part of the canvas beside it. */
const dragOut = async (page: Page, port: string): Promise<void> => {
  const box = (await page.locator(`.react-flow__handle.source[data-handleid="${port}"]`).first().boundingBox())!;
  const [x, y] = [box.x + box.width / 2, box.y + box.height / 2];
  await page.mouse.move(x, y);
  await page.mouse.down();
  await page.mouse.move(x + 80, y + 20, { steps: 4 });
  await page.mouse.move(x + 220, y + 10, { steps: 4 });
  await page.mouse.up();
};

describe("the console in a browser", () => {
  inBrowser("leads from registering to the user's own pipeline that curl calls", async (chromium) => {
    const { page, complaints } = await visit(chromium, { baseUrl: platform.baseUrl });
    const email = `${process.pid}-${Date.now()}@nodeloom.test`;
    await page.goto("/");
    await page.getByRole("button", { name: "Create account" }).click();
    await page.getByLabel("Email").fill(email);
    await page.getByLabel("Password").fill(PASSWORD);
    await page.getByRole("button", { name: "Create account" }).click();
    await page.getByText("Your account awaits approval").waitFor();

    const { body: listed } = await http.asAdmin("GET", `/api/admin/users?q=${encodeURIComponent(email)}`);
    const [user] = (listed as unknown as { rows: { id: string }[] }).rows;
    await http.asAdmin("PATCH", `/api/admin/users/${user!.id}`, { approved: true, tier: "pro" });
    await page.reload();

    await page.getByRole("button", { name: "New workflow" }).click();
    await page.getByRole("dialog").getByLabel("Name").fill("Paper boats");
    await page.getByRole("button", { name: "Create", exact: true }).click();
    await page.getByRole("button", { name: "Add your first node" }).click();
    await choose(page, "inputs");
    await countNodes(page, 1);
    await showAll(page);
    await dragOut(page, "prompt");
    await choose(page, "image");
    await countNodes(page, 2);
    await showAll(page);
    await page.locator('.react-flow__handle.source[data-handleid="image"]').click();
    await choose(page, "results");
    await countNodes(page, 3);
    expect(await page.locator(".react-flow__edge").count()).toBe(2);

    await page.locator("header").getByRole("button", { name: "Run", exact: true }).click();
    await page.getByLabel("Prompt").fill("a paper boat on a quiet lake");
    await page.getByTestId("run").click();
    await page.locator("section[aria-label=Run] img").waitFor();
    expect(await page.locator("section[aria-label=Run]").innerText()).toContain("Completed");

    await page.getByRole("button", { name: "Use as API" }).click();
    const shownExample = await page.getByRole("region", { name: "curl example" }).innerText();
    await page.getByRole("tab", { name: "TypeScript" }).click();
    const inTypeScript = await page.getByRole("region", { name: "typescript example" }).innerText();
    await page.getByRole("tab", { name: "Python" }).click();
    const inPython = await page.getByRole("region", { name: "python example" }).innerText();
    await page.goto("/keys");
    await page.getByRole("button", { name: "New key" }).click();
    await page.getByRole("dialog").getByLabel("Name").fill("Boats");
    await page.getByRole("dialog").getByRole("button", { name: "Create key" }).click();
    const key = await page.getByRole("region", { name: "API key", exact: true }).innerText();
    await page.getByRole("button", { name: "I saved it" }).click();

    expect(shownExample).toContain("a paper boat on a quiet lake");
    const command = shownExample.replace("YOUR_API_KEY", key.trim());
    const { stdout } = await execute("sh", ["-c", `${command} -s`]);
    expect(JSON.parse(stdout)).toMatchObject({
      success: true,
      result: { images: [{ url: expect.stringContaining("/media/") as string }] },
    });
    const withKey = (code: string): string => code.replace("YOUR_API_KEY", key.trim());
    expect(await printed(process.execPath, ["--input-type=module", "--eval", withKey(inTypeScript)])).toContain("/media/");
    expect(await printed("python3", ["-c", withKey(inPython)])).toContain("/media/");
    await page.goto("/usage");
    await page.getByRole("region", { name: "Calls" }).getByText("Paper boats").first().waitFor();
    expect(complaints).toEqual([]);
  });

  inBrowser("supports undo, saves automatically, and keeps every unknown byte", async (chromium) => {
    const account = await http.account({ tier: "pro" });
    const nodes =
      '[{"id":"t","type":"text-box","position":{"x":0,"y":0},"data":{"text":"old","kept":1.0,"big":12345678901234567890}},{"id":"x","type":"from-tomorrow","position":{"x":400,"y":0},"data":{"a.b":{"$set":[]}}}]';
    const raw = `{"name":"Bytes","nodes":${nodes},"edges":[]}`;
    const { body } = await call(platform.baseUrl, "POST", "/api/workflows", { key: account.key, raw });
    const { page, complaints } = await visit(chromium, { baseUrl: platform.baseUrl });
    await signIn(page, account.email, account.password);
    await page.goto(`/workflows/${String(body.slug)}?node=t`);
    const savedWorkflow = (): Promise<unknown> =>
      page.waitForResponse((response) => response.request().method() === "PUT" && response.ok());
    const first = savedWorkflow();
    await page.getByRole("textbox", { name: "Text", exact: true }).fill("new {{name}}");
    await first;
    const saved = async (): Promise<string> =>
      (await call(platform.baseUrl, "GET", `/api/workflows/${String(body.slug)}`, { key: account.key! })).text;
    expect(await saved()).toContain(nodes.replace('"old"', '"new {{name}}"'));
    const second = savedWorkflow();
    await page.getByRole("button", { name: /^Undo/ }).click();
    await second;
    expect(await saved()).toContain(nodes);
    expect(complaints).toEqual([]);
  });

  inBrowser("runs the graph on the canvas, while callers run the published one", async (chromium) => {
    const account = await http.account({ tier: "pro" });
    const nodes = [
      { id: "words", type: "text-box", position: { x: 0, y: 0 }, data: { text: "first words" } },
      { id: "end", type: "response-output", position: { x: 400, y: 0 }, data: {} },
    ];
    const edges = [{ id: "e", source: "words", sourceHandle: "text", target: "end", targetHandle: "text" }];
    const { body } = await http.call("POST", "/api/workflows", { key: account.key, body: { name: "Versions", nodes, edges } });
    const slug = String(body.slug);
    const calledText = async (): Promise<unknown> =>
      (await http.call("POST", `/api/workflows/${slug}/run`, { key: account.key, body: { inputs: {} } })).body.result;
    const { page, complaints } = await visit(chromium, { baseUrl: platform.baseUrl });
    await signIn(page, account.email, account.password);
    await page.goto(`/workflows/${slug}?node=words`);
    await page.getByRole("button", { name: "Publish", exact: true }).click();
    const dialog = page.getByRole("dialog", { name: "Versions" });
    await dialog.getByLabel("Note").fill("What callers get");
    await dialog.getByRole("button", { name: "Publish version 1" }).click();
    await dialog.getByText("production", { exact: true }).waitFor();
    await dialog.getByRole("button", { name: "Close" }).click();

    const text = page.getByRole("textbox", { name: "Text", exact: true });
    await text.fill("second words");
    await page.getByRole("button", { name: /Version 1\s*changed since publishing/ }).waitFor();
    await page.getByRole("button", { name: "More run options" }).click();
    await page.getByRole("menuitem", { name: /^Inputs and price/ }).click();
    await page.getByTestId("run").click();
    await page.locator("section[aria-label=Run]").getByText("second words").waitFor();
    expect(await calledText()).toEqual({ text: "first words" });

    await page.locator(NODE).first().click({ button: "right" });
    await page.getByRole("menuitem", { name: "Run to this node" }).click();
    await page.getByText("and the nodes it needs").waitFor();
    await page.getByTestId("run").click();
    await page.locator("section[aria-label=Run]").getByRole("button", { name: "Results" }).waitFor({ state: "detached" });
    await page.locator("section[aria-label=Run]").getByText("second words").waitFor();

    await page.keyboard.press("Shift+V");
    await dialog.getByRole("button", { name: /What callers get/ }).click();
    await dialog.getByText("“first words”").waitFor();
    await dialog.getByRole("button", { name: "Restore as draft…" }).click();
    await dialog.getByRole("button", { name: "Replace draft" }).click();
    await page.getByRole("button", { name: "Version 1", exact: true }).waitFor();
    await page.getByRole("tab", { name: "Node" }).click();
    expect(await text.inputValue()).toBe("first words");
    await page.getByRole("button", { name: "Undo: Restore version 1" }).click();
    expect(await text.inputValue()).toBe("second words");
    expect(complaints).toEqual([]);
  });

  inBrowser("decides a waiting run, with a comment", async (chromium) => {
    const account = await http.account({ tier: "pro" });
    const nodes = [
      { id: "words", type: "text-box", position: { x: 0, y: 0 }, data: { text: "first words" } },
      { id: "review", type: "approval", position: { x: 400, y: 0 }, data: { title: "Right words?" } },
      { id: "end", type: "response-output", position: { x: 800, y: 0 }, data: {} },
    ];
    const edges = [
      { id: "a", source: "words", sourceHandle: "text", target: "review", targetHandle: "value" },
      { id: "b", source: "review", sourceHandle: "approved", target: "end", targetHandle: "text" },
    ];
    const { body: created } = await http.call("POST", "/api/workflows", { key: account.key, body: { name: "Review", nodes, edges } });
    const run = await http.call("POST", `/api/workflows/${String(created.slug)}/run`, { key: account.key, body: { inputs: {} } });
    expect(run.status).toBe(202);
    const { page, complaints } = await visit(chromium, { baseUrl: platform.baseUrl });
    await signIn(page, account.email, account.password);
    await page.getByRole("link", { name: "Approvals" }).getByText("1").waitFor();
    await page.getByRole("link", { name: "Approvals" }).click();
    await page.getByRole("button", { name: "Edit text…" }).click();
    await page.getByLabel("Text to continue with").fill("better words");
    expect(await accessibilityProblems(page)).toEqual([]);
    await page.getByRole("button", { name: "Approve" }).click();
    await page.getByText("Nothing to approve").waitFor();
    await page.goto(`/executions/${String(run.body.executionId)}`);
    await page.getByText("better words").first().waitFor();
    await page.getByText("Completed").first().waitFor();
    expect(complaints).toEqual([]);
  });

  inBrowser("shows hostile names and texts as text", async (chromium) => {
    const account = await http.account({ tier: "pro" });
    const hostile = `<img src=x onerror="window.broken='yes'"><script>window.broken='yes'</script>{{7*7}}`;
    const graph = {
      nodes: [
        { id: "n", type: "note", position: { x: 0, y: 0 }, data: { text: hostile } },
        { id: hostile, type: hostile, data: { label: hostile } },
      ],
      edges: [],
    };
    const body = { name: hostile, description: hostile, tags: [hostile], cover: null, ...graph };
    const { body: created } = await call(platform.baseUrl, "POST", "/api/workflows", { key: account.key, body });
    const { page, complaints } = await visit(chromium, { baseUrl: platform.baseUrl });
    await signIn(page, account.email, account.password);
    await page.getByRole("link", { name: hostile }).waitFor();
    await page.goto(`/workflows/${String(created.slug)}`);
    await page.locator(NODE).getByText(hostile).first().waitFor();
    expect(await page.evaluate("window.broken")).toBeUndefined();
    expect(complaints).toEqual([]);
  });

  inBrowser("is accessible: axe finds nothing on its main pages", async (chromium) => {
    const account = await http.account({ tier: "pro" });
    const { page, complaints } = await visit(chromium, { baseUrl: platform.baseUrl });
    const pageProblems: Record<string, string[]> = {};
    await page.goto("/");
    await page.getByRole("heading", { name: "Sign in" }).waitFor();
    pageProblems.signIn = await accessibilityProblems(page);
    await signIn(page, account.email, account.password);
    pageProblems.dashboard = await accessibilityProblems(page);
    await page.getByRole("button", { name: "Use it" }).first().click();
    await countNodes(page, 3);
    pageProblems.canvas = await accessibilityProblems(page);
    for (const [path, heading] of [
      ["/kitchen", "Kitchen"],
      ["/executions", "Runs"],
      ["/keys", "API keys"],
      ["/agents", "Connect an agent"],
    ] as const) {
      await page.goto(path);
      await page.getByRole("heading", { name: heading, level: 1 }).waitFor();
      pageProblems[path] = await accessibilityProblems(page);
    }
    expect(Object.fromEntries(Object.entries(pageProblems).filter(([, problems]) => problems.length > 0))).toEqual({});
    expect(complaints).toEqual([]);
  });
});
