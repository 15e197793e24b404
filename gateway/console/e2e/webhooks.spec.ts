import { expect, test } from "@playwright/test";
import { isSignedBy, startReceiver, type Receiver } from "../../../test-support/receiver";
import type { Account } from "../../../test-support/client";
import { edge, nodeAt } from "./support/canvas";
import { EVERY_LOOK, lookProblems } from "./support/looks";
import { setStage } from "./support/stage";

/** Webhook endpoints of an account: added, read, repaired and deleted on their page. */

const PATH = "/api/webhook-endpoints";
const GONE = 410;

let receiver: Receiver & { address: string };
const stage = setStage(async () => {
  receiver = await startReceiver();
  return { allow: [receiver.address] };
});
test.afterAll(() => receiver.close());

/** An account with a workflow that ends at once. */
const runnerOf = async (): Promise<{ account: Account; run: () => Promise<string> }> => {
  const account = await stage.http.account({ tier: "business" });
  const nodes = [nodeAt("text", "text-box", { x: 0, y: 0 }, { text: "a boat" }), nodeAt("end", "response-output", { x: 300, y: 0 })];
  const body = { name: "Short", nodes, edges: [edge("text.text", "end.text")] };
  const { slug } = (await stage.http.call("POST", "/api/workflows", { key: account.key, body })).body;
  const run = async (): Promise<string> => {
    const ran = await stage.http.call("POST", `/api/workflows/${String(slug)}/run?async=true`, { key: account.key, body: { inputs: {} } });
    return String(ran.body.executionId);
  };
  return { account, run };
};

test("an endpoint is added, shows its secret once, lists and resends its messages, is enabled again and deleted", async () => {
  const { account, run } = await runnerOf();
  const inbox = receiver.inbox((response, count) => void response.writeHead(count === 3 ? GONE : 204).end());
  const { page, complaints, context } = await stage.signedIn(account);
  await page.goto("/keys");
  await page.getByRole("link", { name: "Webhooks" }).click();
  await page.getByText("No endpoints yet").waitFor();

  await page.getByRole("button", { name: "New endpoint" }).click();
  const dialog = page.getByRole("dialog");
  await dialog.getByLabel("Address").fill(inbox.url);
  await dialog.getByLabel("Description").fill("Order system");
  await dialog.getByRole("checkbox", { name: /execution\.failed/ }).uncheck();
  await dialog.getByRole("checkbox", { name: /execution\.cancelled/ }).uncheck();
  await dialog.getByRole("button", { name: "Create" }).click();
  const secret = (await page.getByRole("region", { name: "Signing secret" }).innerText()).trim();
  await page.getByRole("button", { name: "I saved it" }).click();
  await page.getByText("Order system").waitFor();

  const executionId = await run();
  await expect.poll(() => inbox.deliveries.length).toBe(1);
  expect(isSignedBy(secret, inbox.deliveries[0]!)).toBe(true);
  await page.getByRole("link", { name: inbox.url }).click();
  const messages = page.getByRole("region", { name: "Sent messages" });
  await messages.getByText("delivered").waitFor();
  await expect(page.locator("main")).not.toContainText(secret);
  await expect(messages.getByRole("link", { name: "View run" })).toHaveAttribute("href", `/executions/${executionId}`);

  await messages.getByRole("button", { name: "Send execution.completed again" }).click();
  await messages.getByRole("button", { name: "2 attempts" }).click();
  await expect(page.getByRole("region", { name: "Attempts" }).getByRole("row")).toHaveCount(3);
  await page.getByRole("button", { name: "Close" }).last().click();
  expect(inbox.deliveries[1]!.headers["webhook-id"]).toBe(inbox.deliveries[0]!.headers["webhook-id"]);

  // The receiver answers 410, which disables the endpoint.
  await run();
  await expect.poll(() => inbox.deliveries.length).toBe(3);
  await page.goto("/webhooks");
  const row = page.getByRole("row", { name: new RegExp(inbox.url) });
  await row.getByText("410").waitFor();
  await page.getByRole("link", { name: inbox.url }).click();
  const notice = page.getByText("No messages are sent to this endpoint");
  await notice.waitFor();
  await expect(messages.getByRole("button", { name: /^Send/ }).first()).toBeDisabled();
  await page.getByRole("button", { name: "Enable" }).click();
  await notice.waitFor({ state: "detached" });
  await messages.getByRole("button", { name: /^Send/ }).first().click();
  await expect.poll(() => inbox.deliveries.length).toBe(4);
  await page.getByRole("button", { name: "Send test message" }).click();
  await messages.getByText("webhook.test").waitFor();
  await expect.poll(() => inbox.deliveries.length).toBe(5);

  await page.getByRole("button", { name: `Actions for ${inbox.url}` }).click();
  await page.getByRole("menuitem", { name: "Delete…" }).click();
  await page.getByRole("dialog").getByRole("button", { name: "Delete" }).click();
  await page.getByText("No endpoints yet").waitFor();
  expect(await page.evaluate("location.pathname")).toBe("/webhooks");
  expect(complaints).toEqual([]);
  await context.close();
});

test("a mail's link opens the webhooks of the organization that it is about", async () => {
  const account = await stage.http.account({ tier: "business", capabilities: null });
  const { cookie } = account;
  const { body } = await stage.http.call("POST", "/api/organizations", { cookie, body: { name: "Loom Works" } });
  const headers = { "x-organization": String(body.id) };
  const endpoint = { url: receiver.inbox().url, events: ["batch.completed"], description: "Ours" };
  expect((await stage.http.call("POST", PATH, { cookie, headers, body: endpoint })).status).toBe(201);
  const { page, context } = await stage.signedIn(account);
  await page.goto(`/webhooks?account=${String(body.id)}`);
  await page.getByText("Ours").waitFor();
  await page.getByRole("button", { name: "Account: Loom Works" }).waitFor();
  await page.goto(`/webhooks?account=${account.userId}`);
  await page.getByText("No endpoints yet").waitFor();
  await page.getByRole("button", { name: "Account: Personal account" }).waitFor();
  await context.close();
});

test("endpoints and their messages can be read by everybody and fit", EVERY_LOOK, async () => {
  const { account, run } = await runnerOf();
  const events = ["execution.completed", "execution.failed", "execution.cancelled", "execution.waiting", "budget.alert"];
  const inboxes = [receiver.inbox(), receiver.inbox((response) => void response.writeHead(GONE).end())];
  const ids: string[] = [];
  for (const { url } of inboxes) {
    const body = { url, events, description: "A description that is longer than anything beside it has room for" };
    ids.push(String((await stage.http.call("POST", PATH, { cookie: account.cookie, body })).body.id));
  }
  await run();
  for (const { deliveries } of inboxes) await expect.poll(() => deliveries.length).toBe(1);
  const visitor = await stage.signedIn(account);
  const goneNotice = visitor.page.getByText("No messages are sent to this endpoint");
  await visitor.page.goto(`/webhooks/${ids[1]}`);
  await goneNotice.waitFor();
  expect(await lookProblems(visitor, ["/webhooks", ...ids.map((id) => `/webhooks/${id}`), "/webhooks/none"])).toEqual({});
  await visitor.context.close();
});
