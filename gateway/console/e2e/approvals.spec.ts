import { expect, test } from "@playwright/test";
import { accessibilityProblems } from "../../../test-support/browser";
import { eventually, type Account } from "../../../test-support/client";
import { edge, nodeAt } from "./support/canvas";
import { EVERY_LOOK, lookProblems } from "./support/looks";
import { setStage } from "./support/stage";

/** Decisions of people: made with a comment, and shown with their author. */

const stage = setStage();
let account: Account;
test.beforeAll(async () => {
  account = await stage.http.account({ tier: "business" });
});

/** @returns the slug, and a run that waits */
const waitingRun = async (): Promise<{ slug: string; executionId: string }> => {
  const { key } = account;
  const body = {
    name: "Reviewed",
    nodes: [
      nodeAt("draft", "text-box", { x: 0, y: 0 }, { text: "a boat" }),
      nodeAt("review", "approval", { x: 300, y: 0 }, { title: "Good?", label: "Review" }),
      nodeAt("end", "response-output", { x: 600, y: 0 }),
    ],
    edges: [edge("draft.text", "review.value"), edge("review.approved", "end.text")],
  };
  const slug = String((await stage.http.call("POST", "/api/workflows", { key, body })).body.slug);
  const started = await stage.http.call("POST", `/api/workflows/${slug}/run?async=true`, { key, body: { inputs: {} } });
  const executionId = String(started.body.executionId);
  await eventually(async () => "waitingFor" in (await stage.http.call("GET", `/api/executions/${executionId}`, { key })).body);
  return { slug, executionId };
};

test("a run shows who decided, and the comment that they gave", EVERY_LOOK, async () => {
  const { executionId } = await waitingRun();
  const visitor = await stage.signedIn(account);
  const { page } = visitor;
  await page.goto("/approvals");
  const card = page.locator("section", { has: page.locator(`a[href="/executions/${executionId}"]`) });
  await card.getByRole("button", { name: "Add comment…" }).click();
  await card.getByRole("textbox", { name: "Comment" }).fill("Use the red one next time.");
  expect(await accessibilityProblems(page)).toEqual([]);
  await card.getByRole("button", { name: "Approve" }).click();
  await page.getByText("Approved.").waitFor();
  await page.goto(`/executions/${executionId}`);
  await page.getByText(`Approved by ${account.email}`).waitFor();
  await page.getByText("Use the red one next time.", { exact: true }).waitFor();
  expect(await lookProblems(visitor, [`/executions/${executionId}`])).toEqual({});
  await visitor.context.close();
});

test("a node of the canvas shows the decision of the run", async () => {
  const { slug, executionId } = await waitingRun();
  const { page, context } = await stage.signedIn(account);
  await page.goto(`/workflows/${slug}?run=${executionId}&node=review`);
  const toolbar = page.getByRole("group", { name: "Waiting for approval: Good?" }).first();
  await toolbar.getByRole("button", { name: "Approve" }).click();
  await page.getByRole("tab", { name: "Node" }).click();
  await page.getByText(`Approved by ${account.email}`).waitFor();
  await context.close();
});

test("a decision by a key names the key", async () => {
  const { executionId } = await waitingRun();
  const body = { nodeId: "review", decision: "reject" };
  expect((await stage.http.call("POST", `/api/executions/${executionId}/decisions`, { key: account.key, body })).status).toBe(200);
  const { page, context } = await stage.signedIn(account);
  await page.goto(`/executions/${executionId}`);
  await page.getByText("Rejected by API key “test”").waitFor();
  await context.close();
});
