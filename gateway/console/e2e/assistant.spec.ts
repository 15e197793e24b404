import { expect, test, type Page } from "@playwright/test";
import { accessibilityProblems, canvasStands } from "../../../test-support/browser";
import type { Account } from "../../../test-support/client";
import { NODE, nodeAt, nodes, saved } from "./support/canvas";
import { startChatModel, type ChatModel } from "./support/chat-model";
import { EVERY_LOOK } from "./support/looks";
import { setStage } from "./support/stage";

/** `npm run drill console`: the assistant builds on the open workflow, within a limit, and its changes can be undone. */

let chat: ChatModel;
const stage = setStage(async () => {
  chat = await startChatModel();
  return { allow: [chat.address] };
});
let account: Account;
test.beforeAll(async () => {
  account = await stage.http.account({ tier: "enterprise" });
});
test.afterAll(() => chat.close());

const addModel = async (): Promise<void> => {
  const answer = await stage.http.asAdmin("POST", "/api/admin/models", chat.entry("thinker"));
  expect([201, 409]).toContain(answer.status);
};

const make = async (): Promise<string> => {
  const body = { name: "Assisted", nodes: [nodeAt("idea", "note", { x: 0, y: -200 }, { text: "Posters" })], edges: [] };
  return String((await stage.http.call("POST", "/api/workflows", { key: account.key, body })).body.slug);
};
const idsIn = async (slug: string): Promise<string[]> => {
  const { body } = await stage.http.call("GET", `/api/workflows/${slug}`, { key: account.key });
  return (body.nodes as { id: string }[]).map(({ id }) => id);
};
const openOn = async (slug: string) => {
  const visitor = await stage.signedIn(account);
  await visitor.page.goto(`/workflows/${slug}`);
  await nodes(visitor.page, 1);
  await canvasStands(visitor.page);
  await visitor.page.keyboard.press("Shift+A");
  return visitor;
};
const ask = async (page: Page, text: string): Promise<void> => {
  const request = page.getByRole("textbox", { name: "Request" });
  await request.fill(text);
  await request.press("Enter");
};
const picture = async (page: Page, name: string): Promise<void> => {
  const { PICTURES } = process.env;
  if (PICTURES) await page.screenshot({ path: `${PICTURES}/${name}-${page.viewportSize()!.width}.png` });
};

const FIELDS = [{ name: "subject", type: "text", label: "Subject", default: "a fox" }];
const BUILD = [
  { op: "add_node", id: "in", type: "request-input", data: { fields: FIELDS } },
  { op: "add_node", id: "woodcut", type: "generate-image", data: { model: "sandbox-imag", prompt: "{{subject}} as a woodcut" } },
  { op: "add_node", id: "out", type: "response-output" },
  { op: "connect", source: "in", sourceHandle: "subject", target: "woodcut", targetHandle: "subject" },
  { op: "connect", source: "woodcut", sourceHandle: "image", target: "out", targetHandle: "images" },
];
const FIX = [{ op: "set_data", id: "woodcut", data: { model: "sandbox-image" } }];

test("without a chat model it says what is missing, and the canvas works as before", async () => {
  const { page, context, complaints } = await openOn(await make());
  await expect(page.getByText("The assistant needs a chat model that can call tools.")).toBeVisible();
  await expect(page.getByRole("link", { name: "Open models" })).toHaveAttribute("href", "/models");
  expect(await accessibilityProblems(page)).toEqual([]);
  expect(complaints).toEqual([]);
  await context.close();
});

test("a description becomes a workflow; each change is shown, priced and one step of undo", EVERY_LOOK, async () => {
  await addModel();
  const slug = await make();
  const { page, context, complaints } = await openOn(slug);
  await page.getByRole("textbox", { name: "Request" }).waitFor();
  await picture(page, "assistant-empty");
  chat.requests.length = 0;
  chat.script([
    [
      ["list_node_kinds", { q: "picture" }],
      ["list_models", { task: "image" }],
    ],
    [["patch_workflow", { operations: BUILD }]],
    [["patch_workflow", { operations: FIX }]],
    "It draws your subject as a woodcut.",
  ]);
  await ask(page, "A picture of a fox in the style of a woodcut");
  await page.getByText("It draws your subject as a woodcut.").waitFor({ timeout: 60_000 });
  const [, , third, fourth] = chat.requests.map(({ messages }) => messages.at(-1)!.content);
  expect(third).toContain('"valid":false');
  expect(third).toContain("sandbox-image");
  expect(fourth).toContain('"valid":true');
  expect(chat.requests[0]!.tools.map((tool) => tool.function.name)).not.toContain("run_node");
  const built = page.getByRole("region", { name: "5 changes" });
  await expect(built.getByText("woodcut", { exact: true })).toBeVisible();
  const fixed = page.getByRole("region", { name: "1 change" });
  await expect(fixed.getByText(/^No problems, [\d.]+ credits? per run$/)).toBeVisible();
  await expect(page.locator(`${NODE}[data-id="woodcut"]`)).toBeVisible();
  await expect(page.getByText(/^Spent [\d.]+ of 10 credits$/)).toBeVisible();
  await canvasStands(page);
  expect(await accessibilityProblems(page)).toEqual([]);
  await picture(page, "assistant-built");
  await saved(page);
  expect(await idsIn(slug)).toEqual(["idea", "in", "woodcut", "out"]);
  await expect(built.getByRole("button", { name: "Undo" })).toHaveCount(0);
  await fixed.getByRole("button", { name: "Undo" }).click();
  await built.getByRole("button", { name: "Undo" }).click();
  await nodes(page, 1);
  await expect(page.locator(`${NODE}[data-id="woodcut"]`)).toHaveCount(0);
  await expect.poll(() => idsIn(slug)).toEqual(["idea"]);
  expect(complaints).toEqual([]);
  await context.close();
});

test("it stops at the credit limit, runs only with permission, says what was charged, and can be cancelled", async () => {
  await addModel();
  account = await stage.http.account({ tier: "enterprise" });
  const slug = await make();
  const { page, context, complaints } = await openOn(slug);
  const settings = page.getByText(/^Spent /);
  await settings.click();
  const limit = page.getByRole("textbox", { name: "Credit limit" });
  await limit.fill("0.5");
  chat.requests.length = 0;
  chat.script(["Too dear."]);
  await ask(page, "A fox");
  await page.getByText("Stopped at your credit limit. Raise it to continue.").waitFor({ timeout: 30_000 });
  await expect(page.getByText("Spent 0 of 0.5 credits")).toBeVisible();
  expect(chat.requests).toEqual([]);

  await limit.fill("40");
  await page.getByRole("checkbox", { name: "Allow test runs" }).check();
  chat.script([
    [["patch_workflow", { operations: [...BUILD, ...FIX] }]],
    [["run_node", { node: "woodcut", maxCredits: 1_000 }]],
    "The picture is ready.",
  ]);
  await ask(page, "A fox as a woodcut, and try it");
  await page.getByText("The picture is ready.").waitFor({ timeout: 60_000 });
  const ran = chat.requests.at(-1)!.messages.at(-1)!.content;
  expect(ran).toContain('"status":"completed"');
  await page.locator(`${NODE}[data-id="woodcut"] img`).first().waitFor();
  const { body } = await stage.http.call("GET", "/api/executions?limit=50", { key: account.key });
  const rows = body.rows as { creditsCost: number }[];
  // Three answers of the model, and the run.
  expect(rows).toHaveLength(4);
  const charged = rows.reduce((sum, { creditsCost }) => sum + creditsCost, 0);
  expect(charged).toBeGreaterThan(0);
  expect(Number(/^Spent ([\d.]+)/.exec((await settings.textContent())!)![1])).toBeCloseTo(charged, 1);

  chat.script(["hang"]);
  await ask(page, "And now a bear");
  await expect.poll(() => chat.requests.at(-1)!.messages.at(-1)!.content).toContain("And now a bear");
  await page.getByRole("button", { name: "Cancel" }).click();
  await page.getByText("Cancelled. Changes so far stay, and you can undo them.").waitFor({ timeout: 30_000 });
  await expect(page.getByRole("button", { name: "Send" })).toBeVisible();
  expect(await accessibilityProblems(page)).toEqual([]);
  expect(complaints).toEqual([]);
  await context.close();
});
