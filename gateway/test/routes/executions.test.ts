import { randomUUID } from "node:crypto";
import { once } from "node:events";
import { request as httpRequest, type IncomingMessage } from "node:http";
import type { sendUnaryData, ServerUnaryCall, ServerWritableStream } from "@grpc/grpc-js";
import { status } from "@grpc/grpc-js";
import { executions } from "@nodeloom/proto";
import { executionNotFound } from "@nodeloom/kernel";
import { EVENT_STREAMS_PER_USER } from "../../src/http/limits";
import { createStreamCount } from "../../src/edge/rate/stream-count";
import { startFakeService, type FakeService } from "../../../test-support/fake-service";
import { startPlatform, type Platform, type User } from "../support/platform";
import { toServiceError } from "../../../services/platform/src/grpc/errors";
import { eventually } from "../../../test-support/eventually";

type WatchCall = ServerWritableStream<executions.WatchExecutionRequest, executions.WatchExecutionResponse>;

const executionsById = new Map<string, executions.Execution>();
let watching: WatchCall[] = [];
let polls = 0;
const redelivered: string[] = [];
let fake: FakeService;
let platform: Platform;
let pro: User;

beforeAll(async () => {
  fake = await startFakeService(executions.ExecutionsServiceService, {
    getExecution: (
      call: ServerUnaryCall<executions.GetExecutionRequest, executions.GetExecutionResponse>,
      callback: sendUnaryData<executions.GetExecutionResponse>,
    ) => {
      const execution = executionsById.get(call.request.executionId);
      polls += 1;
      callback(null, { execution: execution?.userId === call.request.userId ? execution : undefined });
    },
    redeliverWebhook: (
      call: ServerUnaryCall<executions.RedeliverWebhookRequest, executions.RedeliverWebhookResponse>,
      callback: sendUnaryData<executions.RedeliverWebhookResponse>,
    ) => {
      redelivered.push(call.request.executionId);
      const delivery = { configured: true, url: "https://x.example/", state: "pending", attempts: redelivered.length };
      callback(null, executions.RedeliverWebhookResponse.fromPartial({ webhookDelivery: delivery }));
    },
    watchExecution: (call: WatchCall) => {
      if (executionsById.get(call.request.executionId)?.userId === call.request.userId) watching.push(call);
      else call.emit("error", toServiceError(executionNotFound()));
    },
  });
  platform = await startPlatform({ EXECUTIONS_ADDRESS: fake.address });
  pro = await platform.createUser();
});
afterAll(async () => {
  await platform.stop();
  fake.stop();
});
beforeEach(() => (watching = []));

const execution = (more: Partial<executions.Execution>): executions.Execution => {
  const newExecution = executions.Execution.fromPartial({
    executionId: randomUUID(),
    userId: pro.id,
    status: "processing",
    createdAt: new Date(0),
    ...more,
  });
  executionsById.set(newExecution.executionId, newExecution);
  return newExecution;
};

it("rejects a filter by metadata that no run can have", async () => {
  for (const name of ["metadata.__proto__", "metadata.a%00b"]) {
    const answer = await platform.send(`/api/executions?${name}=x`, { headers: platform.byKey(pro) });
    expect([answer.status, answer.body.code]).toEqual([400, "INVALID_REQUEST"]);
  }
});

describe("polling", () => {
  it("finds an execution by its id in capitals", async () => {
    const { executionId } = execution({});
    const answer = await platform.send(`/api/executions/${executionId.toUpperCase()}`, { headers: platform.byKey(pro) });
    expect([answer.status, answer.body.executionId]).toEqual([200, executionId]);
  });

  it("shows a running execution without result and error", async () => {
    const { executionId } = execution({ nodes: [executions.NodeState.fromPartial({ id: "n", type: "text-box", status: "processing" })] });
    const answer = await platform.send(`/api/executions/${executionId}`, { headers: platform.byKey(pro) });
    expect(answer.body).toMatchObject({
      executionId,
      status: "processing",
      requestId: null,
      webhookDelivery: { configured: false },
      nodes: [{ id: "n", type: "text-box", status: "processing", startedAt: null, durationMs: null, creditsCost: 0, error: null }],
    });
    expect(answer.body).not.toHaveProperty("result");
    expect(answer.body).not.toHaveProperty("error");
  });

  it("shows a result as it was stored, an error with its code, and the webhook's delivery", async () => {
    const { executionId } = execution({
      status: "failed",
      requestId: "r",
      resultJson: '{"n":1.0}',
      millicredits: 1_500,
      error: executions.ExecutionError.fromPartial({
        code: "PROVIDER_SUBMIT_FAILED",
        message: "no",
        providerStatus: 500,
        providerBody: "b",
      }),
      webhookDelivery: executions.WebhookDelivery.fromPartial({
        configured: true,
        url: "https://x.example/",
        state: "pending",
        attempts: 2,
        lastError: "no answer",
        nextAttemptAt: new Date(10_000),
        history: [
          executions.WebhookAttempt.fromPartial({ at: new Date(0), status: 500, error: "500", durationMs: 7, delivery: 1, attempt: 1 }),
          executions.WebhookAttempt.fromPartial({
            at: new Date(5_000),
            error: "no answer",
            delivery: 1,
            attempt: 2,
            url: "https://y.example/",
          }),
        ],
      }),
    });
    const answer = await platform.send(`/api/executions/${executionId}`, { headers: platform.byKey(pro) });
    expect(answer.text).toContain('"result":{"n":1.0}');
    expect(answer.body).toMatchObject({
      error: { code: "PROVIDER_SUBMIT_FAILED", providerStatus: 500, providerBody: "b" },
      creditsCost: 1.5,
      webhookDelivery: {
        configured: true,
        url: "https://x.example/",
        state: "pending",
        attempts: 2,
        deliveredAt: null,
        lastError: "no answer",
        nextAttemptAt: "1970-01-01T00:00:10.000Z",
        history: [
          { at: "1970-01-01T00:00:00.000Z", status: 500, error: "500", durationMs: 7, delivery: 1, attempt: 1 },
          {
            at: "1970-01-01T00:00:05.000Z",
            status: null,
            error: "no answer",
            durationMs: 0,
            delivery: 1,
            attempt: 2,
            url: "https://y.example/",
          },
        ],
      },
    });
  });

  it.each(["events", "", "cancel", "redeliver"])(
    "with a malformed, unknown or foreign id is EXECUTION_NOT_FOUND alike (%s)",
    async (action) => {
      const { executionId } = execution({ userId: "somebody" });
      const ids = action === "" || action === "events" ? ["nonsense", randomUUID(), executionId] : ["nonsense"];
      for (const id of ids) {
        const method = action === "" || action === "events" ? "GET" : "POST";
        const path = `/api/executions/${id}${action === "" ? "" : `/${action}`}`;
        const answer = await platform.send(path, { method, headers: platform.byKey(pro) });
        expect([answer.status, answer.body]).toEqual([
          404,
          { error: "execution not found", code: "EXECUTION_NOT_FOUND", doc: "/docs/reference/errors/EXECUTION_NOT_FOUND" },
        ]);
      }
    },
  );
});

describe("redelivering", () => {
  it("starts one delivery per Idempotency-Key, and another one without a key", async () => {
    const { executionId } = execution({ status: "completed" });
    const ask = async (key?: string) => {
      const headers = { ...platform.byKey(pro), ...(key ? { "idempotency-key": key } : {}) };
      const answer = await platform.send(`/api/executions/${executionId}/redeliver`, { method: "POST", headers });
      return [answer.status, answer.headers["idempotency-replayed"] ?? null, answer.body];
    };
    const times = (): number => redelivered.filter((id) => id === executionId).length;
    const [, , first] = await ask("once");
    expect(await ask("once")).toEqual([202, "true", first]);
    expect(times()).toBe(1);
    expect((await ask("again")).slice(0, 2)).toEqual([202, null]);
    expect((await ask()).slice(0, 2)).toEqual([202, null]);
    expect(times()).toBe(3);
  });
});

interface Stream {
  response: IncomingMessage;
  text: () => string;
  close(): void;
}

const open = async (executionId: string, headers: Record<string, string> = {}, on = platform, user = pro): Promise<Stream> => {
  const outgoing = httpRequest(`${on.baseUrl}/api/executions/${executionId}/events`, {
    headers: { ...on.byKey(user), ...headers },
    agent: false,
  });
  outgoing.end();
  const [response] = (await once(outgoing, "response")) as [IncomingMessage];
  let text = "";
  response.on("data", (chunk: Buffer) => (text += chunk.toString()));
  response.on("error", () => undefined);
  return { response, text: () => text, close: () => outgoing.destroy() };
};

const event = (sequence: number, type: string, dataJson = "{}"): executions.WatchExecutionResponse => ({
  sequence,
  type,
  at: new Date(0),
  dataJson,
  publicDataJson: "",
});

describe("following an execution", () => {
  it("sends events in order, with their ids, and ends with the execution", async () => {
    const { executionId } = execution({});
    const pollsBefore = polls;
    const opening = open(executionId);
    await eventually(() => watching.length === 1);
    const [call] = watching;
    expect(call!.request).toMatchObject({ executionId, userId: pro.id, afterSequence: 0 });
    expect(polls).toBe(pollsBefore);
    call!.write(event(1, "admitted"));
    const stream = await opening;
    expect(stream.response.headers["content-type"]).toBe("text/event-stream; charset=utf-8");
    call!.write(event(0, "node.delta", '{"text":"On"}'));
    call!.write(event(2, "node.completed", '{"node":"a",\n"n":1.0}'));
    call!.end();
    await once(stream.response, "end");
    expect(stream.text()).toContain(
      'id: 2\nevent: node.completed\ndata: {"type":"node.completed","at":"1970-01-01T00:00:00.000Z","data":{"node":"a",\ndata: "n":1.0}}\n\n',
    );
    // Events outside the log have no ID, so that a client doesn't resume after them.
    expect(stream.text()).toContain('\n\nevent: node.delta\ndata: {"type":"node.delta"');
    expect(stream.text().indexOf("id: 1\n")).toBeLessThan(stream.text().indexOf("id: 2\n"));
  });

  it("resumes after Last-Event-ID", async () => {
    const { executionId } = execution({});
    const stream = await open(executionId, { "last-event-id": "41" });
    await eventually(() => watching.length === 1);
    expect(watching[0]!.request.afterSequence).toBe(41);
    stream.close();
  });

  it("asks a client that has all events not to reconnect", async () => {
    const { executionId } = execution({ status: "completed" });
    const opening = open(executionId, { "last-event-id": "9" });
    await eventually(() => watching.length === 1);
    watching[0]!.end();
    expect((await opening).response.statusCode).toBe(204);
  });

  it("doesn't tell that to a client if the gateway stops before the rest", async () => {
    const stopped = await startPlatform({ EXECUTIONS_ADDRESS: fake.address });
    const user = await stopped.createUser();
    const { executionId } = execution({ status: "completed", userId: user.id });
    const opening = open(executionId, { "last-event-id": "8" }, stopped, user);
    await eventually(() => watching.length === 1);
    await stopped.stop();
    expect((await opening).response.statusCode).toBe(503);
  });

  it("replays the rest of a final execution", async () => {
    const { executionId } = execution({ status: "completed" });
    const opening = open(executionId, { "last-event-id": "8" });
    await eventually(() => watching.length === 1);
    watching[0]!.write(event(9, "settled"));
    watching[0]!.end();
    const stream = await opening;
    await once(stream.response, "end");
    expect(stream.text()).toContain("id: 9\nevent: settled\n");
  });

  it("stops watching the execution when the client disconnects", async () => {
    const { executionId } = execution({});
    const opening = open(executionId);
    await eventually(() => watching.length === 1);
    watching[0]!.write(event(1, "admitted"));
    const cancelled = once(watching[0]!, "cancelled");
    const stream = await opening;
    stream.close();
    await cancelled;
  });

  it("reports a silent source within seconds, and closes it", async () => {
    const { executionId } = execution({});
    const opening = open(executionId);
    await eventually(() => watching.length === 1);
    const cancelled = once(watching[0]!, "cancelled");
    expect((await opening).response.statusCode).toBe(503);
    await cancelled;
  });

  it("ends when the source fails, so that the client resumes", async () => {
    const { executionId } = execution({});
    const opening = open(executionId);
    await eventually(() => watching.length === 1);
    watching[0]!.write(event(1, "admitted"));
    const stream = await opening;
    await eventually(() => stream.text().includes("id: 1\n"));
    watching[0]!.emit("error", { code: status.UNAVAILABLE, details: "gone" });
    await once(stream.response, "end");
  });

  it("limits the open streams per user, and frees closed ones", () => {
    const streams = createStreamCount(2);
    const giveBack = streams.take("a");
    streams.take("a");
    expect(() => streams.take("a")).toThrow(
      expect.objectContaining({ reason: "CONCURRENCY_LIMIT_EXCEEDED", metadata: { limit: 2, retryAfter: 5 } }),
    );
    expect(() => streams.take("b")).not.toThrow();
    giveBack();
    expect(() => streams.take("a")).not.toThrow();
  });

  it("counts a stream before it calls executions, so that a user with silent streams can't exceed the limit", async () => {
    const user = await platform.createUser({ tier: "business" });
    const { executionId } = execution({ userId: user.id });
    const events = `/api/executions/${executionId}/events`;
    const silent = Array.from({ length: EVENT_STREAMS_PER_USER }, () => open(executionId, {}, platform, user));
    await eventually(() => watching.length === EVENT_STREAMS_PER_USER);
    const reply = await platform.send(events, { headers: platform.byKey(user) });
    expect(reply).toMatchObject({ status: 429, body: { code: "CONCURRENCY_LIMIT_EXCEEDED" } });
    expect(watching).toHaveLength(EVENT_STREAMS_PER_USER);
    for (const call of watching) call.end();
    for (const { close } of await Promise.all(silent)) close();
  });

  it("responds to a HEAD without waiting for events", async () => {
    const { executionId } = execution({});
    const answer = await platform.send(`/api/executions/${executionId}/events`, { method: "HEAD", headers: platform.byKey(pro) });
    expect(answer.status).toBe(200);
    expect(watching).toHaveLength(0);
  });
});
