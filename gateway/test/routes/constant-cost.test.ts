import { randomUUID } from "node:crypto";
import type { sendUnaryData, ServerUnaryCall } from "@grpc/grpc-js";
import { createGrpcClient } from "@nodeloom/platform";
import { executions, usage, workflows } from "@nodeloom/proto";
import { monitored, startCounting, type Load } from "../support/counting";
import { CALLER_FRESH_MS } from "../../src/http/limits";
import { startFakeService, type FakeService } from "../../../test-support/fake-service";
import { send, type Answer } from "../support/http";
import { startPlatform, type Platform, type User } from "../support/platform";

/** The services' cost of a list must not grow with its rows. */

const WORKFLOWS = 200;
const USAGE_ROWS = 200;
const EXECUTIONS = 500;
const REQUESTS = 1_000;
const AT_ONCE = 4;
/** Number of list requests that must share look-ups. */
const OFTEN_LISTED = 20;
/** For slow steps on a busy machine. */
const PATIENT = { deadlineMs: 60_000 };

const counting = startCounting();
let platform: Platform;
let fake: FakeService;
/** An account with one row of everything, one with many rows, and one whose list is requested repeatedly. */
let few: User;
let many: User;
let busy: User;

const generator = (id: string): object => ({
  id,
  type: "generate-image",
  position: { x: 0, y: 0 },
  data: { model: "sandbox-image", inputs: { prompt: "a loom", count: 2 } },
});

const createWorkflows = async (user: User, count: number): Promise<void> => {
  const service = createGrpcClient<workflows.WorkflowsServiceServer>(workflows.WorkflowsServiceService, {
    address: platform.env.WORKFLOWS_ADDRESS!,
  });
  const create = (number: number) =>
    service.createWorkflow(
      workflows.CreateWorkflowRequest.fromPartial({
        ownerId: user.id,
        name: `Listed ${user.id} ${number}`,
        nodesJson: JSON.stringify([generator("a"), generator("b")]),
        edgesJson: "[]",
        viewportJson: "{}",
      }),
      PATIENT,
    );
  await Promise.all(Array.from({ length: count }, (_, number) => create(number)));
  service.close();
};

const createUsage = async (user: User, count: number): Promise<void> => {
  const service = createGrpcClient<usage.UsageServiceServer>(usage.UsageServiceService, { address: platform.env.USAGE_ADDRESS! });
  const run = { userId: user.id, modelIds: ["sandbox-image"], source: "api-slim", startedAt: new Date() };
  await Promise.all(
    Array.from({ length: count }, () =>
      service.startRun(usage.StartRunRequest.fromPartial({ run: { executionId: randomUUID(), ...run } }), PATIENT),
    ),
  );
  service.close();
};

const row = (): executions.Execution =>
  executions.Execution.fromPartial({
    executionId: randomUUID(),
    status: "completed",
    createdAt: new Date(),
    nodes: [{ id: "a", type: "text-box", status: "completed" }],
  });

beforeAll(async () => {
  fake = await startFakeService(executions.ExecutionsServiceService, {
    listExecutions: (
      { request }: ServerUnaryCall<executions.ListExecutionsRequest, executions.ListExecutionsResponse>,
      callback: sendUnaryData<executions.ListExecutionsResponse>,
    ) => {
      const length = request.userId === many.id ? Math.min(EXECUTIONS, request.limit) : 1;
      callback(null, { executions: Array.from({ length }, row), nextCursor: "" });
    },
  });
  platform = await startPlatform({ EXECUTIONS_ADDRESS: fake.address, MONGODB_URI: monitored(process.env.MONGODB_URI!) });
  // Enterprise accounts have no rate limit.
  [few, many, busy] = (await Promise.all([1, 2, 3].map(() => platform.createUser({ tier: "enterprise" })))) as [User, User, User];
  await Promise.all([createWorkflows(few, 1), createWorkflows(many, WORKFLOWS), createWorkflows(busy, OFTEN_LISTED)]);
  await Promise.all([createUsage(few, 1), createUsage(many, USAGE_ROWS)]);
});
afterAll(async () => {
  await platform.stop();
  fake.stop();
  counting.stop();
});

/** Load of one request at a gateway that has just started and has empty caches. */
const first = async (path: string, user: User): Promise<{ load: Load; answer: Answer }> => {
  const gateway = await platform.startGateway();
  let answer: Answer | undefined;
  const load = await counting.during(async () => (answer = await send(gateway.baseUrl, path, { headers: platform.byKey(user) })));
  await gateway.stop();
  if (answer?.status !== 200) throw new Error(`${path} was answered ${answer?.status}: ${answer?.text}`);
  return { load, answer };
};

/** Look-ups that services can cache: models' overrides, its servers and the available provider keys. */
const REMEMBERED = ["models: find overrides", "models: find servers", "identity: find secrets", "identity.v1.IdentityService/ListSecrets"];
const lasting = ({ commands, calls }: Load): Load => {
  for (const name of REMEMBERED) expect((commands[name] ?? 0) + (calls[name] ?? 0)).toBeLessThanOrEqual(1);
  const keptCounts = (counts: Record<string, number>): Record<string, number> =>
    Object.fromEntries(Object.entries(counts).filter(([name]) => !REMEMBERED.includes(name)));
  return { calls: keptCounts(calls), commands: keptCounts(commands) };
};

/** Calls that every list needs. */
const LISTS = ["workflows.v1.WorkflowsService/ListWorkflows", "workflows: find workflows"];

describe("a list of workflows", () => {
  it("makes one call to workflows and one look-up of prices, and as many commands for 200 rows as for one", async () => {
    const [short, long] = [await first("/api/workflows", few), await first("/api/workflows", many)];
    expect([short.answer.body.length, long.answer.body.length]).toEqual([1, WORKFLOWS]);
    expect(lasting(long.load)).toEqual(lasting(short.load));
    expect(lasting(long.load).calls).toEqual({
      "identity.v1.IdentityService/AuthenticateKey": 1,
      "workflows.v1.WorkflowsService/ListWorkflows": 1,
      "models.v1.ModelsService/ListModels": 1,
    });
    expect(lasting(long.load).commands).toEqual({ "workflows: find workflows": 2 });
    // The prices were looked up once and are in every row.
    const estimates = (long.answer.body as unknown as { estimatedCreditCost: number }[]).map((one) => one.estimatedCreditCost);
    // Two generators of two images at 0.02 USD, at a markup of 1.15.
    expect(new Set(estimates)).toEqual(new Set([9.2]));
  });

  it("makes no more calls in 1,000 requests than in each of them", async () => {
    const headers = platform.byKey(busy);
    const ask = async (times: number): Promise<void> => {
      for (let time = 0; time < times; time += 1) {
        const response = await fetch(`${platform.baseUrl}/api/workflows`, { headers });
        if (response.status !== 200) throw new Error(`answered ${response.status}`);
        await response.arrayBuffer();
      }
    };
    const startedAt = Date.now();
    const { calls, commands } = await counting.during(() => Promise.all(Array.from({ length: AT_ONCE }, () => ask(REQUESTS / AT_ONCE))));
    expect(calls["workflows.v1.WorkflowsService/ListWorkflows"]).toBe(REQUESTS);
    expect(commands["workflows: find workflows"]).toBe(2 * REQUESTS);
    // Callers and prices are cached for a moment, so the number of look-ups depends on time, not on the number of requests.
    const moments = 2 * (1 + (Date.now() - startedAt) / CALLER_FRESH_MS);
    for (const [name, count] of [...Object.entries(calls), ...Object.entries(commands)])
      if (!LISTS.includes(name)) expect([name, count <= moments]).toEqual([name, true]);
  });
});

describe.each([
  ["/api/usage?limit=500", "usage.v1.UsageService/ListRows", USAGE_ROWS],
  ["/api/executions?limit=500", "executions.v1.ExecutionsService/ListExecutions", EXECUTIONS],
])("a page of %s", (path, method, rows) => {
  it("makes as many calls and commands for many rows as for one", async () => {
    const [short, long] = [await first(path, few), await first(path, many)];
    expect([short, long].map(({ answer }) => (answer.body.rows as unknown[]).length)).toEqual([1, rows]);
    expect(lasting(long.load)).toEqual(lasting(short.load));
    expect(long.load.calls[method]).toBe(1);
  });
});
