import { randomUUID } from "node:crypto";
import { DomainError } from "@nodeloom/kernel";
import { serverStream, unary } from "@nodeloom/platform";
import { executions } from "@nodeloom/proto";
import { startFakeService, type FakeService } from "../../../test-support/fake-service";
import type { Answer } from "../support/http";
import { startPlatform, type Platform, type User } from "../support/platform";

/** Limit on requests for other accounts' executions. */
const LIMIT = 3;

const executionsById = new Map<string, executions.Execution>();
let askedIds: string[] = [];
let fake: FakeService;
let platform: Platform;
let tier: string;

beforeAll(async () => {
  fake = await startFakeService(executions.ExecutionsServiceService, {
    getExecution: unary<executions.GetExecutionRequest, executions.GetExecutionResponse>(({ executionId, userId }) => {
      askedIds.push(executionId);
      const execution = executionsById.get(executionId);
      return Promise.resolve({ execution: execution?.userId === userId ? execution : undefined });
    }),
    cancelExecution: unary<executions.CancelExecutionRequest, executions.CancelExecutionResponse>(({ executionId, userId }) => {
      askedIds.push(executionId);
      if (executionsById.get(executionId)?.userId === userId) return Promise.resolve({ status: "already_completed" });
      throw new DomainError("not_found", "EXECUTION_NOT_FOUND", "execution not found");
    }),
    watchExecution: serverStream<executions.WatchExecutionRequest, executions.WatchExecutionResponse>(({ executionId }) => {
      askedIds.push(executionId);
      throw new DomainError("not_found", "EXECUTION_NOT_FOUND", "execution not found");
    }),
  });
  platform = await startPlatform({ EXECUTIONS_ADDRESS: fake.address });
  tier = `tiny-${randomUUID().slice(0, 8)}`;
  const json = { base: "pro", rateLimitPerMinute: LIMIT, markup: 1.5, monthlyCredits: 10, concurrency: 1 };
  await platform.send(`/api/admin/tiers/${tier}`, { method: "PUT", json, headers: platform.bySession(platform.admin) });
});
afterAll(async () => {
  await platform.stop();
  fake.stop();
});
beforeEach(() => (askedIds = []));

const executionOf = ({ id }: User): string => {
  const execution = executions.Execution.fromPartial({
    executionId: randomUUID(),
    userId: id,
    status: "completed",
    createdAt: new Date(0),
  });
  executionsById.set(execution.executionId, execution);
  return execution.executionId;
};

const WAYS = {
  poll: ["GET", ""],
  cancel: ["POST", "/cancel"],
  events: ["GET", "/events"],
} as const;
const ask = (user: User, way: keyof typeof WAYS, id: string): Promise<Answer> => {
  const [method, rest] = WAYS[way];
  return platform.send(`/api/executions/${id}${rest}`, { method, headers: platform.byKey(user) });
};

it.each(["poll", "cancel", "events"] as const)(
  "counts all requests for foreign executions together, and then stops looking them up (%s)",
  async (way) => {
    const [user, other] = [await platform.createUser({ tier }), await platform.createUser({ tier })];
    // Unknown ids, and an id of another user.
    const answers = [await ask(user, "poll", randomUUID()), await ask(user, "cancel", executionOf(other))];
    answers.push(await ask(user, "events", randomUUID()));
    expect(answers.map(({ status }) => status)).toEqual([404, 404, 404]);
    expect(askedIds).toHaveLength(LIMIT);

    // The request beyond the limit is still looked up, because it can be the caller's own. It is the last one.
    expect([404, 429]).toContain((await ask(user, way, randomUUID())).status);
    const before = askedIds.length;
    for (let times = 0; times < 5; times += 1) {
      const refusal = await ask(user, way, randomUUID());
      expect(refusal).toMatchObject({ status: 429, body: { code: "RATE_LIMIT_EXCEEDED", tier, limit: LIMIT } });
    }
    expect(askedIds).toHaveLength(before);
  },
);

it("continues to serve the caller's own executions, and other callers", async () => {
  const [user, other] = [await platform.createUser({ tier }), await platform.createUser({ tier })];
  const own = executionOf(user);
  expect((await ask(user, "poll", own)).status).toBe(200);
  for (let times = 0; times < 2 * LIMIT; times += 1) await ask(user, "poll", randomUUID());
  expect((await ask(user, "poll", randomUUID())).status).toBe(429);
  expect((await ask(user, "poll", own)).status).toBe(200);
  expect((await ask(user, "cancel", own)).body).toEqual({ status: "already_completed" });
  expect((await ask(other, "poll", randomUUID())).status).toBe(404);
});
