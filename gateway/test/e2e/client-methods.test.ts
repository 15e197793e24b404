import { createClient, type Client } from "@nodeloom/client";
import { expectDocumented } from "../support/contract";
import type { Answer } from "../support/http";
import { clientOf, eventually } from "../../../test-support/client";
import { edge, greeting, node } from "../../../test-support/graphs";
import { startPlatform, type Platform } from "../../../test-support/platform";
import { startRecorder, type Recorder } from "../../../test-support/recorder";

/** Every method of the client, against a real gateway: it sends a request that the gateway accepts, and the answer is what the API documents. */

const CAPABILITIES = [
  ...["workflow:*", "execution:*", "model:run", "agent:invoke", "webhook:receive"],
  ...["execution:delete", "erasure:write", "webhooks:write", "schedules:write", "usage:read"],
];
const TEST = { name: "greets", inputs: { prompt: "Ada" }, expect: [{ path: "text", equals: "Hello Ada" }], maxCredits: 1 };

/** fetch that checks each answer in JSON. */
const checked: typeof fetch = async (input, init) => {
  const response = await fetch(input, init);
  if (!(response.headers.get("content-type") ?? "").startsWith("application/json")) return response;
  const text = await response.clone().text();
  const answer = { status: response.status, headers: Object.fromEntries(response.headers), text, body: JSON.parse(text) as Answer["body"] };
  const { pathname } = new URL(input as string);
  expectDocumented(init?.method ?? "GET", pathname, answer);
  return response;
};

/** A client that records its called methods, and the names of all methods. */
const watched = (client: Client): { client: Client; called: Set<string>; all: string[] } => {
  const called = new Set<string>();
  const all: string[] = [];
  const watch = (members: object, prefix: string): object =>
    Object.fromEntries(
      Object.entries(members).map(([name, member]: [string, unknown]) => {
        if (typeof member === "object") return [name, watch(member as object, `${name}.`)];
        const method = member as (...args: unknown[]) => unknown;
        all.push(prefix + name);
        return [name, (...args: unknown[]) => (called.add(prefix + name), method(...args))];
      }),
    );
  return { client: watch(client, "") as Client, called, all };
};

const writer = () => ({
  name: "Writer",
  nodes: [
    node("in", "request-input", { fields: [{ name: "prompt", type: "text", label: "Prompt", default: "a loom" }] }),
    node("write", "llm-assistant", { model: "sandbox-chat", maxTokens: 40 }),
    node("review", "approval", { title: "Good?" }),
    node("out", "response-output"),
  ],
  edges: [edge("in.prompt", "write.prompt"), edge("write.text", "review.value"), edge("review.approved", "out.text")],
});

const all = async <T>(items: AsyncIterable<T>): Promise<T[]> => {
  const allItems: T[] = [];
  for await (const item of items) allItems.push(item);
  return allItems;
};

let platform: Platform;
let receiver: Recorder;
let webhookUrl: string;
let watch: ReturnType<typeof watched>;
let client: Client;
let slug: string;

beforeAll(async () => {
  receiver = await startRecorder();
  const host = receiver.address;
  webhookUrl = `http://${host}/`;
  platform = await startPlatform({ allow: [host] });
  const { key } = await clientOf(platform).account({ tier: "business", capabilities: CAPABILITIES });
  watch = watched(createClient({ baseUrl: platform.baseUrl, apiKey: key, fetch: checked }));
  client = watch.client;
  ({ slug } = await client.workflows.create({ ...greeting(), publicPlayground: true, tests: [TEST] }));
});
afterAll(async () => {
  await platform.stop();
  await receiver.close();
});

it("runs: text models are submitted and streamed like all others", async () => {
  const chat = { model: "sandbox-chat" };
  const { executionId } = await client.submit(chat, { prompt: "a loom" });
  expect(await client.wait(executionId)).toMatchObject({ status: "completed", result: { text: expect.any(String) as string } });
  const stream = client.stream(chat, { prompt: "a loom" }, { metadata: { customer: "acme" }, prefer: "no-queue" });
  const pieces: string[] = [];
  let next = await stream.next();
  for (; !next.done; next = await stream.next()) pieces.push(next.value);
  expect(pieces.join("")).toBe(next.value.result.text);
  expect(await client.executions.get(next.value.executionId)).toMatchObject({ metadata: { customer: "acme" } });
  expect((await all(client.events(executionId))).at(-1)).toMatchObject({ type: "settled" });
  expect(await client.quote({ workflow: slug }, { prompt: "Ada" })).toMatchObject({ exact: true });
  const first = await client.run<{ text: string }>({ workflow: slug }, { prompt: "Ada" });
  expect(await client.quoteRerun(first.executionId)).toMatchObject({ reused: expect.any(Object) as object });
  expect(await client.rerun(first.executionId, { inputs: { prompt: "Bea" } })).toMatchObject({ result: { text: "Hello Bea" } });
  expect((await client.executions.list({ limit: 2 })).rows).toHaveLength(2);
  await client.executions.delete(first.executionId);
  await expect(client.executions.get(first.executionId)).rejects.toMatchObject({ status: 404 });
  expect(await client.cancel(executionId)).toBe("already_completed");
});

it("decisions and erasures", async () => {
  const { slug: reviewed } = await client.workflows.create(writer());
  const { executionId } = await client.submit({ workflow: reviewed });
  await eventually(
    () => client.executions.get(executionId),
    ({ waitingFor = [] }) => waitingFor.length > 0,
  );
  expect(await client.decide(executionId, { nodeId: "review", decision: "approve", comment: "yes" })).toMatchObject({
    decision: "approve",
  });
  const waited = (await all(client.events(executionId))).filter(({ type }) => type === "execution.waiting" || type === "node.decided");
  expect(waited).toMatchObject([{ type: "execution.waiting", data: { nodeId: "review" } }, { type: "node.decided" }]);
  expect(await client.erasures.create({ workflow: reviewed, dryRun: true })).toMatchObject({ matched: 1 });
  const { erasureId } = await client.erasures.create({ executions: [executionId] });
  expect(await client.erasures.get(erasureId!)).toMatchObject({ erasureId, matched: 1 });
  expect((await client.erasures.list({ limit: 5 })).rows[0]).toMatchObject({ erasureId, by: "executions" });
});

it("workflows, their versions, aliases, tests and bundles", async () => {
  const { slug: other } = await client.workflows.create(greeting());
  expect(await client.workflows.update(other, { description: "Says hello" })).toMatchObject({ description: "Says hello" });
  expect(await client.workflows.move(other, null)).toMatchObject({ folderId: null });
  await client.workflows.delete(other);
  expect((await client.workflows.list()).map((one) => one.slug)).toContain(slug);
  expect(await client.workflows.get(slug)).toMatchObject({ slug });
  expect(await client.workflows.schema(slug)).toMatchObject({ fields: [{ name: "prompt" }] });
  expect(await client.workflows.publicSchema(slug)).toMatchObject({ name: "Greeting" });
  const { version } = await client.workflows.publish(slug, "first");
  expect(await client.workflows.setAlias(slug, "staging", { version })).toMatchObject({ name: "staging", version });
  expect((await client.workflows.aliases(slug)).map(({ name }) => name)).toContain("staging");
  expect(await client.run({ workflow: slug, alias: "staging" }, { prompt: "Ada" })).toMatchObject({ result: { text: "Hello Ada" } });
  await client.workflows.deleteAlias(slug, "staging");
  expect((await client.versions.list(slug)).rows).toMatchObject([{ version, note: "first" }]);
  expect(await client.versions.get(slug, version)).toMatchObject({ version });
  expect(await client.versions.restore(slug, version)).toMatchObject({ slug });
  expect(await client.tests.quote(slug, { version })).toMatchObject({ estimatedCreditCost: 0 });
  const { batchId } = await client.tests.run(slug, { version });
  expect(await client.tests.wait(slug, batchId, { pollIntervalMs: 200 })).toMatchObject({ status: "passed", passed: 1 });
  expect((await client.tests.list(slug)).rows).toHaveLength(1);
  expect(await client.tests.get(slug, batchId)).toMatchObject({ batchId });
  expect(await client.tests.junit(slug, batchId)).toContain("<testsuite");
  const bundle = await client.bundles.export([slug]);
  expect(await client.bundles.import(bundle, { dryRun: true })).toMatchObject({ workflows: [{ slug }] });
});

it("batches, schedules and hooks", async () => {
  const [target, order] = [{ workflow: slug }, { inputs: [{ prompt: "Ada" }, { prompt: "Bea" }] }];
  expect(await client.batches.quote(target, order)).toMatchObject({ estimatedCreditCost: 0 });
  const { batchId } = await client.batches.create(target, order);
  expect(await client.batches.wait(batchId, { pollIntervalMs: 200 })).toMatchObject({ status: "completed" });
  expect((await all(client.batches.results(batchId))).map(({ result }) => result)).toEqual([{ text: "Hello Ada" }, { text: "Hello Bea" }]);
  expect(await client.batches.get(batchId, { limit: 1 })).toMatchObject({ rows: [{ index: 0 }] });
  expect((await client.batches.list()).rows.map((one) => one.batchId)).toContain(batchId);
  await expect(client.batches.resume(batchId, 10)).rejects.toMatchObject({ code: "PRECONDITION_FAILED" });
  await expect(client.batches.rerun(batchId, "failed")).rejects.toMatchObject({ code: expect.any(String) as string });
  expect(await client.batches.cancel(batchId)).toMatchObject({ batchId });

  const { id } = await client.schedules.create(slug, { cron: "@yearly", inputs: { prompt: "Ada" } });
  expect(await client.schedules.update(slug, id, { paused: true })).toMatchObject({ paused: true });
  expect(await client.schedules.get(slug, id)).toMatchObject({ id, cron: "@yearly" });
  expect(await client.schedules.list(slug)).toHaveLength(1);
  await client.schedules.delete(slug, id);
  const hook = await client.hooks.create(slug, { expression: "{ prompt: title }", maxCredits: 1 });
  expect(hook.url).toContain("/hooks/");
  expect(await client.hooks.list(slug)).toMatchObject([{ id: hook.id }]);
  await client.hooks.delete(slug, hook.id);
});

it("files, webhook endpoints, models and usage", async () => {
  const { result } = await client.run({ model: "sandbox-image" }, { prompt: "a loom" });
  const [{ url }] = result.images as [{ url: string }];
  const file = await client.download(url);
  const { id } = await client.upload(file);
  expect((await client.media.list()).rows.map((one) => one.id)).toContain(id);
  expect(await client.media.get(id)).toMatchObject({ id, origin: "upload" });
  const generated = (await client.media.list()).rows.find(({ origin }) => origin === "generated")!;
  expect(await client.media.keep(generated.id)).toMatchObject({ kept: true });
  await client.media.delete(id);
  expect(await client.verify(file)).toMatchObject({ supported: true });

  const endpoint = await client.webhookEndpoints.create({ url: webhookUrl, events: ["execution.completed"] });
  expect(endpoint.secret).toMatch(/^whsec_/);
  expect((await client.webhookEndpoints.rotate(endpoint.id)).secret).not.toBe(endpoint.secret);
  await client.wait((await client.submit({ workflow: slug })).executionId);
  const deliveries = async () => (await client.webhookEndpoints.deliveries(endpoint.id, { limit: 1 })).rows;
  const [delivery] = await eventually(deliveries, (rows) => rows[0]?.state === "delivered");
  expect(await client.webhookEndpoints.redeliver(endpoint.id, delivery!.id)).toMatchObject({ id: delivery!.id });
  expect(await client.webhookEndpoints.test(endpoint.id)).toMatchObject({ event: "webhook.test" });
  expect(await client.webhookEndpoints.update(endpoint.id, { disabled: true })).toMatchObject({ disabledAt: expect.any(String) as string });
  expect(await client.webhookEndpoints.list()).toHaveLength(1);
  await client.webhookEndpoints.delete(endpoint.id);

  expect((await client.models.list()).map(({ internalName }) => internalName)).toContain("sandbox-chat");
  expect(await client.models.get("sandbox-chat")).toMatchObject({ internalName: "sandbox-chat" });
  expect((await client.usage.summary({ groupBy: "workflow" })).groups).toBeDefined();
  expect((await client.usage.list({ limit: 1 })).rows).toHaveLength(1);
  expect(await client.usage.models()).toContain("sandbox-chat");
  expect((await client.whoami()).tier).toBe("business");
  expect((await client.request("listFolders", {})).body).toEqual([]);
  expect(JSON.parse((await client.requestText("listFolders", {})).body)).toEqual([]);
});

it("leaves no method out", () => {
  expect(watch.all.filter((name) => !watch.called.has(name))).toEqual([]);
});
