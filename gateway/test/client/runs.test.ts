import { createClient, type Client } from "@nodeloom/client";
import { startScripted, type Script, type ScriptedService } from "./server";

let service: ScriptedService;
afterEach(() => service.stop());
const clientOf = async (...script: Script[]): Promise<Client> => {
  service = await startScripted(...script);
  return createClient({ baseUrl: service.baseUrl, apiKey: "nl_test" });
};

const execution = (more: object): Script => ({
  status: 200,
  json: { executionId: "e", status: "processing", creditsCost: 0, durationMs: 5, nodes: [], ...more },
});
const GOES_ON: Script = { status: 202, json: { _async: true, executionId: "e", status: "processing", requestId: null } };

describe("a run", () => {
  it("that outlasts the request is awaited, and has the same result", async () => {
    const client = await clientOf(GOES_ON, execution({ status: "completed", result: { text: "hi" }, creditsCost: 2 }));
    expect(await client.run({ model: "sandbox-chat" }, { prompt: "x" }, { maxCredits: 3 })).toEqual({
      success: true,
      result: { text: "hi" },
      cost: 2,
      ms: 5,
      executionId: "e",
    });
    expect(service.received[0]).toMatchObject({ path: "/api/models/sandbox-chat/run", body: '{"inputs":{"prompt":"x"},"maxCredits":3}' });
  });

  it("sends its metadata, provenance and preferences, also when it is submitted or rerun", async () => {
    const completed: Script = {
      status: 200,
      json: { success: true, result: { text: "x" }, cost: 0, ms: 1 },
      headers: { "x-execution-id": "e" },
    };
    const client = await clientOf(GOES_ON, completed);
    const options = { metadata: { customer: "acme" }, provenance: "full", prefer: "no-queue", maxCredits: 2 } as const;
    await client.submit({ model: "sandbox-chat" }, { prompt: "x" }, options);
    expect(await client.rerun("e", { nodes: ["n"] }, options)).toMatchObject({ result: { text: "x" }, executionId: "e" });
    const [submitted, again] = service.received.map(({ path, body, headers: { prefer } }) => ({
      path,
      prefer,
      body: JSON.parse(body) as object,
    }));
    const settings = { metadata: { customer: "acme" }, provenance: "full", maxCredits: 2 };
    expect(submitted).toEqual({
      ...{ path: "/api/models/sandbox-chat/run?async=true", prefer: "no-queue" },
      body: { inputs: { prompt: "x" }, ...settings },
    });
    expect(again).toEqual({ path: "/api/executions/e/rerun", prefer: "no-queue", body: { nodes: ["n"], ...settings } });
  });

  it("is submitted by `Prefer: respond-async` if its model can't be polled", async () => {
    const client = await clientOf({ status: 400, json: { error: "can't be polled", code: "ASYNC_NOT_SUPPORTED" } }, GOES_ON);
    await client.submit({ model: "sandbox-chat" }, { prompt: "x" });
    const requests = service.received.map(({ path, headers: { prefer } }) => ({ path, prefer }));
    expect(requests).toEqual([
      { path: "/api/models/sandbox-chat/run?async=true", prefer: undefined },
      { path: "/api/models/sandbox-chat/run", prefer: "respond-async" },
    ]);
  });

  it("streams its text as it is written, without repeats, and then the rest", async () => {
    const message = (type: string, data: object): string => `data: ${JSON.stringify({ type, at: "2026-11-28T10:00:00Z", data })}\n\n`;
    const delta = (text: string, reset = false): string => message("node.delta", { nodeId: "model", text, reset });
    const other = message("node.delta", { nodeId: "title", text: "No" });
    const text = `${delta("On", true)}${other}${delta("ce ")}${delta("Once upon", true)}id: 9\n${message("settled", {})}`;
    const events: Script = { status: 200, headers: { "content-type": "text/event-stream" }, text };
    const client = await clientOf(
      GOES_ON,
      events,
      execution({ status: "completed", result: { text: "Once upon a time" }, creditsCost: 2 }),
    );
    const stream = client.stream({ model: "sandbox-chat" }, { prompt: "x" });
    const pieces: string[] = [];
    let next = await stream.next();
    for (; !next.done; next = await stream.next()) pieces.push(next.value);
    expect(pieces).toEqual(["On", "ce ", "upon", " a time"]);
    expect(next.value).toMatchObject({ result: { text: "Once upon a time" }, cost: 2, executionId: "e" });
  });

  it("reports retries and responses, without the query", async () => {
    service = await startScripted(
      { status: 503, json: { error: "busy", code: "SERVICE_UNAVAILABLE" } },
      { status: 200, json: { rows: [] } },
    );
    const reports: unknown[] = [];
    const client = createClient({
      ...{ baseUrl: service.baseUrl, apiKey: "nl_test" },
      onRetry: ({ operation, status, attempt, pauseMs }) => reports.push([operation, status, attempt, pauseMs > 0]),
      onResponse: ({ url, status, code }) => reports.push([url, status, code]),
    });
    await client.usage.list({ limit: 1 });
    const url = `${service.baseUrl}/api/usage`;
    expect(reports).toEqual([
      [url, 503, "SERVICE_UNAVAILABLE"],
      ["listUsage", 503, 1, true],
      [url, 200, undefined],
    ]);
  });

  it("to a node requests that node, in quotes and runs alike", async () => {
    const client = await clientOf({ status: 200, json: { estimatedCreditCost: 1 } }, { status: 200, json: { success: true, result: {} } });
    const target = { workflow: "x", until: "words" };
    await client.quote(target, { a: 1 });
    await client.run(target, { a: 1 });
    expect(service.received.map(({ body }) => body)).toEqual(Array(2).fill('{"inputs":{"a":1},"until":"words"}'));
  });

  it.each([
    [
      { status: "failed", error: { code: "PROVIDER_RESPONSE_INCOMPLETE", message: "no output", nodeId: "n" } },
      500,
      "PROVIDER_RESPONSE_INCOMPLETE",
      "no output",
    ],
    [{ status: "cancelled" }, 409, "EXECUTION_CANCELLED", "the run was cancelled"],
  ])("that ends without a result throws the reason: %j", async (end, status, code, message) => {
    const client = await clientOf(GOES_ON, execution(end));
    await expect(client.run({ workflow: "x" })).rejects.toMatchObject({ status, code, message, executionId: "e" });
  });
});

describe("waiting", () => {
  it("polls every two seconds until the execution is final", async () => {
    const client = await clientOf(execution({}), execution({ status: "cancel_requested" }), execution({ status: "cancelled" }));
    const statuses: string[] = [];
    expect(await client.wait("e", { onPoll: ({ status }) => statuses.push(status) })).toMatchObject({ status: "cancelled" });
    expect(statuses).toEqual(["processing", "cancel_requested", "cancelled"]);
    const gaps = service.received.slice(1).map(({ at }, index) => at - service.received[index]!.at);
    for (const gap of gaps) expect(gap).toBeGreaterThanOrEqual(1_950);
  });

  it("ends when its signal aborts", async () => {
    const client = await clientOf(execution({}));
    const controller = new AbortController();
    const onPoll = (): void => void setImmediate(() => controller.abort(new Error("enough")));
    await expect(client.wait("e", { signal: controller.signal, onPoll })).rejects.toThrow("enough");
    expect(service.received).toHaveLength(1);
  });
});
