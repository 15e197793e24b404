import { expect, test, type Page } from "@playwright/test";
import type { Account } from "../../../test-support/client";
import { idOf } from "../../../test-support/receiver";
import { startRecorder, type Recorder } from "../../../test-support/recorder";
import { setStage } from "./support/stage";

/** `npm run drill console`: complete journeys through the console in addition to the main one. */
const MOST_LOOKS = 60;

let receiver: Recorder;
const stage = setStage(async () => {
  receiver = await startRecorder();
  return { allow: [receiver.address] };
});
test.afterAll(() => receiver?.close());

const journey = (name: string, act: (page: Page, account: Account) => Promise<void>): void =>
  test(name, async () => {
    const account = await stage.http.account({ tier: "pro", webhook: { url: receiver.url } });
    const { page, context, complaints } = await stage.signedIn(account);
    await act(page, account);
    expect(complaints).toEqual([]);
    await context.close();
  });

const create = async (account: Account, name: string, nodes: object[] = [], edges: object[] = []): Promise<string> =>
  String((await stage.http.call("POST", "/api/workflows", { key: account.key, body: { name, nodes, edges } })).body.slug);

journey("a slow video is cancelled from the canvas, and its page shows the charge", async (page, account) => {
  const video = {
    id: "video",
    type: "generate-video",
    position: { x: 0, y: 0 },
    data: { model: "sandbox-video", inputs: { prompt: "x", seconds: 1, sandbox: { fail: "hang" } } },
  };
  const slug = await create(account, "Slow", [video]);
  await page.goto(`/workflows/${slug}`);
  await page.locator(".react-flow__node").waitFor();
  await page.getByTestId("run-now").filter({ hasText: "credits" }).click();
  const run = page.locator("section[aria-label=Run]");
  await run.getByRole("button", { name: "Cancel" }).click();
  await run.locator("header").getByText("Cancelled", { exact: true }).waitFor();
  await run.getByRole("link", { name: "Open run" }).click();
  await page.getByRole("heading", { name: "Receipt" }).waitFor();
  await page.getByText("Cancelled", { exact: true }).first().waitFor();
});

journey("a run by key notifies its webhook, and its page shows the delivery", async (page, account) => {
  const words = { id: "words", type: "text-box", position: { x: 0, y: 0 }, data: { text: "report" } };
  const slug = await create(account, "Report", [words]);
  const body = { inputs: {}, metadata: { team: "red" } };
  const ran = await stage.http.call("POST", `/api/workflows/${slug}/run`, { key: account.key, body, headers: { prefer: "respond-async" } });
  const id = ran.headers.get("x-execution-id")!;
  await page.goto("/executions?meta=team%3Dred");
  await page.getByRole("link", { name: "Report", exact: true }).click();
  await page.getByRole("heading", { name: "Webhook" }).waitFor();
  for (let looks = 0; looks < MOST_LOOKS && receiver.requests.length === 0; looks += 1) await page.reload();
  expect(receiver.requests.map(idOf)).toEqual([`msg_${id}`]);
  await page.reload();
  await page.getByText("delivered", { exact: true }).waitFor();
});

journey("after a failure the canvas reruns only the failed part, and charges only that", async (page, account) => {
  const sandboxOf = (middle: object) => [{ latencyMs: 1 }, middle, { latencyMs: 1 }];
  const graphOf = (middle: object) => ({
    nodes: [
      { id: "prompts", type: "list", position: { x: 0, y: 0 }, data: { items: ["a loom", "a reed", "a weft"] } },
      { id: "ways", type: "list", position: { x: 0, y: 200 }, data: { items: sandboxOf(middle) } },
      { id: "picture", type: "generate-image", position: { x: 300, y: 0 }, data: { label: "Picture", model: "sandbox-image-fast" } },
    ],
    edges: [
      { id: "a", source: "prompts", sourceHandle: "items", target: "picture", targetHandle: "prompt" },
      { id: "b", source: "ways", sourceHandle: "items", target: "picture", targetHandle: "sandbox" },
    ],
  });
  const { nodes, edges } = graphOf({ latencyMs: 8_000, fail: "job" });
  const slug = await create(account, "Three pictures", nodes, edges);
  const call = (method: string, path: string, body: object) => stage.http.call(method, path, { key: account.key, body });
  const failed = await call("POST", `/api/workflows/${slug}/run`, { inputs: {} });
  expect(failed.status).toBe(500);
  expect((await call("PUT", `/api/workflows/${slug}`, graphOf({ latencyMs: 1 }))).status).toBe(200);

  await page.goto(`/workflows/${slug}?run=${failed.headers.get("x-execution-id")!}`);
  const again = page.getByRole("form", { name: "Run again" });
  await again.getByText("2 of 3 reused, saves 1.2 credits").waitFor();
  await again.getByText("Regenerates: Picture, item 2.").waitFor();
  await again.getByRole("button", { name: "Continue · 0.6 credits" }).click();
  const run = page.locator("section[aria-label=Run]");
  await run
    .locator("header")
    .getByText(/ · 0\.6 credits$/)
    .waitFor();
  await run.getByText("Nodes", { exact: true }).click();
  await run.getByText("2 of 3 reused").waitFor();
  await run.getByRole("link", { name: "Open run" }).click();
  await page.getByRole("heading", { name: "Run again and reuse unchanged results" }).waitFor();
  await page.getByText("Outputs (3 items)").click();
  await page
    .getByText(/^reused from the run of /)
    .first()
    .waitFor();
  await page.getByRole("button", { name: "Run again · free" }).waitFor();
});
