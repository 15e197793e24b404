import type { sendUnaryData, ServerUnaryCall, ServerWritableStream } from "@grpc/grpc-js";
import { executions } from "@nodeloom/proto";
import { mcpFixtures } from "../../../src/variables";
import { startFakeService, type FakeService } from "../../../../test-support/fake-service";
import { startPlatform, type Platform, type User } from "../../support/platform";
import { rpcOf, valueOf, type Exchange } from "./rpc";

type Callback<T> = sendUnaryData<T>;
type RunCall = ServerUnaryCall<executions.RunRequest, executions.RunResponse>;
type QuoteCall = ServerUnaryCall<executions.QuoteRequest, executions.QuoteResponse>;

const quotes: executions.QuoteRequest[] = [];
const runs: executions.RunRequest[] = [];
let earlier: executions.Execution[] = [];
/** Called at the next quote, before it is answered. */
let meanwhile: (() => Promise<unknown>) | undefined;
let isDown = false;

let fake: FakeService;
let platform: Platform;
let user: User;
let rpc: ReturnType<typeof rpcOf>;

const NODES = [{ id: "picture", status: "completed", outputsJson: '{"text":"drawn"}' }];

beforeAll(async () => {
  fake = await startFakeService(executions.ExecutionsServiceService, {
    quote: ({ request }: QuoteCall, callback: Callback<executions.QuoteResponse>) => {
      quotes.push(request);
      if (isDown) return callback({ code: 14, message: "away" });
      const price = executions.QuoteResponse.fromPartial({ nodes: [{ id: "picture" }], millicredits: 3_000, maxMillicredits: 3_000 });
      const task = meanwhile;
      meanwhile = undefined;
      void Promise.resolve(task?.()).then(() => callback(null, price));
    },
    run: ({ request }: RunCall, callback: Callback<executions.RunResponse>) => {
      runs.push(request);
      callback(null, executions.RunResponse.fromPartial({ execution: { executionId: request.executionId, status: "processing" } }));
    },
    getExecution: ({ request }: { request: { executionId: string } }, callback: Callback<executions.GetExecutionResponse>) =>
      callback(null, {
        execution: executions.Execution.fromPartial({
          executionId: request.executionId,
          status: "completed",
          resultJson: "{}",
          nodes: NODES,
        }),
      }),
    listExecutions: (_call: unknown, callback: Callback<executions.ListExecutionsResponse>) =>
      callback(null, executions.ListExecutionsResponse.fromPartial({ executions: earlier })),
    watchExecution: (call: ServerWritableStream<executions.WatchExecutionRequest, executions.WatchExecutionResponse>) => call.end(),
  });
  platform = await startPlatform({ EXECUTIONS_ADDRESS: fake.address });
  user = await platform.createUser({ tier: "enterprise" });
  rpc = rpcOf(platform, user);
});
afterAll(async () => {
  await platform.stop();
  fake.stop();
});
beforeEach(() => {
  [quotes.length, runs.length] = [0, 0];
  [earlier, meanwhile, isDown] = [[], undefined, false];
});

const NODE = { id: "picture", type: "generate-image", data: { model: "sandbox-image" } };
const create = async (nodes: object[] = [NODE]): Promise<{ slug: string; revision: number }> =>
  valueOf(await rpc.call("save_workflow", { name: "Made by an agent", nodes })) as { slug: string; revision: number };
const read = async (slug: string) => valueOf(await rpc.call("get_workflow", { slug })) as { nodes: { id: string }[]; revision: number };
const withKey = async (capabilities: string[]) => {
  const { body } = await platform.send("/api/keys", { json: { name: "some", capabilities }, headers: platform.bySession(user) });
  return rpcOf(platform, { ...user, key: String(body.key) });
};
const failure = ({ reply }: Exchange): unknown => {
  expect(reply!.result).toMatchObject({ isError: true });
  return JSON.parse(reply!.result!.content![0]!.text!);
};
const ADD = { op: "add_node", id: "out", type: "response-output" };

describe("patch_workflow", () => {
  it("saves the changed draft, and answers with its revision, its problems and its price", async () => {
    const { slug, revision } = await create();
    const patched = valueOf(await rpc.call("patch_workflow", { slug, revision, operations: [ADD] }));
    expect(patched).toMatchObject({ slug, saved: true, valid: true, issues: [], estimatedCreditCost: 3, maxCreditCost: 3, exact: true });
    const draft = await read(slug);
    expect(draft.nodes.map(({ id }) => id)).toEqual(["picture", "out"]);
    expect(patched.revision).toBe(draft.revision);
    expect(quotes[0]).toMatchObject({
      target: { target: { value: slug } },
      unsaved: { nodesJson: expect.stringContaining('"out"') as string },
    });
  });

  it("changes nothing if one operation can't be applied, on a dry run, and at another revision", async () => {
    const { slug, revision } = await create();
    const missing = { op: "remove_node", id: "nothing" };
    expect(failure(await rpc.call("patch_workflow", { slug, operations: [ADD, missing] }))).toMatchObject({
      issues: [{ path: "operations.1.id" }],
    });
    const tried = valueOf(await rpc.call("patch_workflow", { slug, operations: [ADD], dryRun: true }));
    expect(tried).toMatchObject({ saved: false, revision, valid: true });
    const stale = await rpc.call("patch_workflow", { slug, revision: revision - 1, operations: [ADD] });
    expect(failure(stale)).toMatchObject({ code: "PRECONDITION_FAILED", revision });
    expect(await read(slug)).toMatchObject({ nodes: [NODE], revision });
  });

  it("loses no operation of agents that change the draft at the same time", async () => {
    const { slug } = await create();
    const ids = Array.from({ length: 4 }, (_, index) => `node-${index}`);
    const patches = ids.map((id) => rpc.call("patch_workflow", { slug, operations: [{ op: "add_node", id, type: "json" }] }));
    const saved = (await Promise.all(patches)).map((each) => valueOf(each).saved);
    const there = (await read(slug)).nodes.map(({ id }) => id);
    expect(ids.filter((_, index) => saved[index]).every((id) => there.includes(id))).toBe(true);
    expect(there.length).toBe(1 + saved.filter(Boolean).length);
  });

  it("says that the draft is saved if it can't be checked", async () => {
    const { slug } = await create();
    isDown = true;
    const patched = valueOf(await rpc.call("patch_workflow", { slug, operations: [ADD] }));
    expect(patched).toMatchObject({ saved: true, checkError: { code: "SERVICE_UNAVAILABLE" } });
    expect(patched).not.toHaveProperty("valid");
    expect((await read(slug)).nodes).toHaveLength(2);
  });

  it("doesn't approve a change by a caller who can't run the workflow", async () => {
    const { slug } = await create();
    const writer = await withKey(["workflow:read", "workflow:write"]);
    await writer.call("save_workflow", { slug, nodes: [NODE, { id: "later", type: "json" }], edges: [] });
    expect(await read(slug)).toMatchObject({ pendingChange: true });
    expect(valueOf(await rpc.call("patch_workflow", { slug, operations: [ADD] }))).toMatchObject({ saved: true, pendingChange: true });
    expect(await read(slug)).toMatchObject({ pendingChange: true });
  });

  it("needs workflow:write and workflow:read, and the caller's own workflow", async () => {
    const { slug } = await create();
    for (const [capability, required] of [
      ["workflow:read", "workflow:write"],
      ["workflow:write", "workflow:read"],
    ]) {
      const denied = await (await withKey([capability!])).call("patch_workflow", { slug, operations: [ADD] });
      expect(failure(denied)).toMatchObject({ code: "CAPABILITY_DENIED", required });
    }
    const stranger = rpcOf(platform, await platform.createUser({ tier: "pro" }));
    expect(failure(await stranger.call("patch_workflow", { slug, operations: [ADD] }))).toEqual({ error: "workflow not found" });
    await platform.send(`/api/workflows/${slug}`, { method: "PUT", json: { isTemplate: true }, headers: platform.bySession(user) });
    const foreign = await stranger.call("patch_workflow", { slug, operations: [ADD] });
    expect(failure(foreign)).toMatchObject({
      code: "INVALID_REQUEST",
      issues: [{ path: "slug", message: expect.stringContaining("clone_workflow") as string }],
    });
  });

  it.each<[string, object[] | string]>([
    ["no operations", []],
    ["101 operations", Array.from({ length: 101 }, () => ADD)],
    ["an unknown operation", [{ op: "explode" }]],
    ["text", "add a node"],
  ])("refuses %s", async (_, operations) => {
    const { slug } = await create();
    expect(failure(await rpc.call("patch_workflow", { slug, operations }))).toMatchObject({ code: "INVALID_REQUEST" });
  });
});

describe("save_workflow", () => {
  it("with a revision saves only over that revision", async () => {
    const { slug, revision } = await create();
    const saved = valueOf(await rpc.call("save_workflow", { slug, revision, description: "one" }));
    expect(failure(await rpc.call("save_workflow", { slug, revision, description: "two" }))).toMatchObject({ code: "PRECONDITION_FAILED" });
    expect(await read(slug)).toMatchObject({ description: "one", revision: saved.revision });
    for (const args of [
      { slug, revision: "1" },
      { name: "New", revision: 1 },
    ])
      expect(failure(await rpc.call("save_workflow", args))).toMatchObject({ issues: [{ path: "revision" }] });
  });

  it("ignores an If-Match header of the message", async () => {
    const { slug } = await create();
    const { reply } = await rpc.call("save_workflow", { slug, description: "one" }, { "if-match": '"1"' });
    expect(reply!.result).not.toHaveProperty("isError");
  });
});

describe("validate", () => {
  it("takes example values for inputs without a value or a default, and says which", async () => {
    const fields = [
      { name: "subject", type: "text", min: 3 },
      { name: "count", type: "number", min: 2 },
      { name: "style", type: "select", options: ["ink", "oil"] },
      { name: "photo", type: "image_upload" },
      { name: "size", type: "text", default: "large" },
      { name: "given", type: "text" },
    ];
    const nodes = [{ id: "in", type: "request-input", data: { fields } }];
    const checked = valueOf(await rpc.call("validate", { nodes, inputs: { given: "mine" } }));
    const assumed = { subject: "………", count: 2, style: "ink", photo: "https://example.com/example" };
    expect(checked).toMatchObject({ valid: true, assumedInputs: assumed });
    expect(JSON.parse(quotes[0]!.inputsJson)).toEqual({ ...assumed, given: "mine" });
  });

  it("needs a workflow or a graph", async () => {
    expect(failure(await rpc.call("validate", {}))).toMatchObject({ issues: [{ path: "" }] });
    expect(failure(await rpc.call("validate", { edges: [] }))).toMatchObject({ issues: [{ path: "nodes" }] });
    expect(failure(await rpc.call("validate", { nodes: "all" }))).toMatchObject({ issues: [{ path: "nodes" }] });
  });
});

describe("run_node", () => {
  it("runs the draft up to the node, and reuses the latest finished run", async () => {
    const { slug } = await create();
    const first = valueOf(await rpc.call("run_node", { slug, node: "picture" }));
    expect(first).toMatchObject({ status: "completed", outputs: { text: "drawn" } });
    expect(runs[0]).toMatchObject({ target: { version: "draft", until: "picture" }, inputsJson: "{}", maxMillicredits: 3_000 });
    expect(runs[0]!.rerun).toBeUndefined();
    const [under, over] = ["11111111-1111-4111-8111-111111111111", "22222222-2222-4222-8222-222222222222"];
    earlier = [
      executions.Execution.fromPartial({ executionId: under, status: "processing" }),
      executions.Execution.fromPartial({ executionId: over, status: "failed" }),
    ];
    await rpc.call("run_node", { slug, node: "picture", again: true, maxCredits: 5 });
    expect(runs[1]).toMatchObject({
      rerun: { executionId: over, nodes: ["picture"], otherGraph: true },
      inputsJson: "",
      maxMillicredits: 5_000,
    });
  });

  it("reuses nothing if the key can't read executions", async () => {
    const { slug } = await create();
    earlier = [executions.Execution.fromPartial({ executionId: "22222222-2222-4222-8222-222222222222", status: "completed" })];
    const runner = await withKey(["workflow:run"]);
    const ran = valueOf(await runner.call("run_node", { slug, node: "picture" }));
    expect(ran).toMatchObject({ status: "completed" });
    expect(ran).not.toHaveProperty("outputs");
    expect(runs[0]!.rerun).toBeUndefined();
  });
});

describe("publish", () => {
  it("publishes the draft, only at the named revision, and moves an alias", async () => {
    const { slug, revision } = await create();
    expect(failure(await rpc.call("publish", { slug, revision: revision - 1 }))).toMatchObject({ code: "PRECONDITION_FAILED" });
    const published = valueOf(await rpc.call("publish", { slug, revision, note: "First", alias: "staging" }));
    expect(published).toMatchObject({ slug, version: 1, note: "First", alias: { name: "staging", version: 1 } });
  });

  it("gives the new version a share of an alias's runs, and publishes nothing if the alias has no version of its own", async () => {
    const { slug } = await create();
    const canary = { percent: 10, minRuns: 20 };
    expect(failure(await rpc.call("publish", { slug, alias: "staging", canary }))).toMatchObject({ code: "ALIAS_NOT_FOUND" });
    await rpc.call("publish", { slug });
    expect(failure(await rpc.call("publish", { slug, alias: "production", canary }))).toMatchObject({ code: "INVALID_REQUEST" });
    expect(failure(await rpc.call("publish", { slug, canary }))).toMatchObject({ code: "INVALID_REQUEST" });
    expect(valueOf(await rpc.call("publish", { slug, alias: "production" }))).toMatchObject({ version: 2, alias: { version: 2 } });
    const published = valueOf(await rpc.call("publish", { slug, alias: "production", canary }));
    expect(published).toMatchObject({ version: 3, alias: { name: "production", version: 2, canary: { version: 3, ...canary } } });
  });

  it("keeps the version and says so if the alias can't move", async () => {
    const { slug } = await create();
    const { reply } = await rpc.call("publish", { slug, alias: "production", requireTests: true });
    const writer = await (await withKey(["workflow:write"])).call("publish", { slug, alias: "production" });
    expect(reply!.result).toMatchObject({ structuredContent: { version: 1 } });
    expect(writer.reply!.result).toMatchObject({
      isError: true,
      structuredContent: { version: 2, aliasError: { code: "CAPABILITY_DENIED" } },
    });
  });
});

describe("lists", () => {
  it("of node kinds have ports and the schema of `data`; one kind has its operations' inputs", async () => {
    const { kinds } = valueOf(await rpc.call("list_node_kinds", { q: "resize picture" })) as { kinds: Record<string, unknown>[] };
    expect(kinds[0]).toMatchObject({ type: "media", data: { type: "object", properties: expect.any(Object) as object } });
    const all = await rpc.call("list_node_kinds");
    expect(JSON.stringify(all.reply).length).toBeLessThan(60_000);
    const [media] = (valueOf(await rpc.call("list_node_kinds", { type: "media" })) as { kinds: { operations: object[] }[] }).kinds;
    expect(media!.operations[0]).toHaveProperty("inputs");
    expect(failure(await rpc.call("list_node_kinds", { type: "medai" }))).toMatchObject({
      error: expect.stringContaining("did you mean media?") as string,
    });
  });

  it("of models and templates come in pages", async () => {
    const names: string[] = [];
    for (let cursor: string | undefined; ;) {
      const page = valueOf(await rpc.call("list_models", { limit: 3, ...(cursor === undefined ? {} : { cursor }) }));
      names.push(...(page.models as { internalName: string }[]).map(({ internalName }) => internalName));
      if (page.nextCursor === null) break;
      cursor = String(page.nextCursor);
    }
    const { body } = await platform.send("/api/models", { headers: platform.byKey(user) });
    expect(names).toEqual((body as unknown as { internalName: string }[]).map(({ internalName }) => internalName));
    expect(failure(await rpc.call("list_models", { cursor: "nothing" }))).toMatchObject({ issues: [{ path: "cursor" }] });
    const [image] = valueOf(await rpc.call("list_models", { name: "sandbox-image" })).models as object[];
    expect(image).toMatchObject({ inputSchema: { properties: { prompt: {} } } });
    const { slug } = await create();
    await platform.send(`/api/workflows/${slug}`, {
      method: "PUT",
      json: { isTemplate: true, tags: ["rare"] },
      headers: platform.bySession(user),
    });
    expect(valueOf(await rpc.call("search_templates", { tag: "rare" }))).toMatchObject({ templates: [{ slug }], nextCursor: null });
  });
});

describe("resources and prompts", () => {
  it("are the guides, the schemas and common jobs", async () => {
    const { resources } = (await rpc.request("resources/list")).reply!.result as { resources: { uri: string; description: string }[] };
    const read = async (uri: string) => (await rpc.request("resources/read", { uri })).reply!;
    expect(resources.every(({ description }) => description !== "")).toBe(true);
    for (const { uri } of resources.filter((_, index) => index % 10 === 0))
      expect(await read(uri)).toMatchObject({ result: { contents: [{ uri }] } });
    const [page] = (await read("nodeloom://docs/guide/runs")).result!.contents as { text: string; mimeType: string }[];
    expect(page).toMatchObject({ mimeType: "text/markdown", text: expect.stringMatching(/^# /) as string });
    const [schema] = (await read("nodeloom://schemas/graph")).result!.contents as { text: string }[];
    expect(JSON.parse(schema!.text)).toMatchObject({ properties: { nodes: { type: "array" } } });
    for (const uri of [
      "nodeloom://docs/guide/../../package.json",
      "nodeloom://docs/operations/local",
      "nodeloom://node-kinds/nothing",
      "file:///etc/passwd",
    ])
      expect((await read(uri)).error).toBeDefined();
  });

  it("name only tools that exist", async () => {
    const tools = new Set(((await rpc.request("tools/list")).reply!.result!.tools as { name: string }[]).map(({ name }) => name));
    const { prompts } = (await rpc.request("prompts/list")).reply!.result as { prompts: { name: string; arguments: { name: string }[] }[] };
    expect(prompts.map(({ name }) => name)).toEqual(["build_pipeline", "fix_workflow", "reduce_cost", "add_review"]);
    for (const { name, arguments: all } of prompts) {
      const values = Object.fromEntries(all.map((argument) => [argument.name, "1"]));
      const { messages } = (await rpc.request("prompts/get", { name, arguments: values })).reply!.result as {
        messages: { content: { text: string } }[];
      };
      const names = messages[0]!.content.text.match(/`[a-z]+_[a-z_]+`/g) ?? [];
      const operations = new Set(["add_node"]);
      expect(names.map((word) => word.slice(1, -1)).filter((word) => !tools.has(word) && !operations.has(word))).toEqual([]);
      expect((await rpc.request("prompts/get", { name })).reply!.error).toMatchObject({ code: -32_602 });
    }
  });

  it("complete names of pages, kinds and workflows", async () => {
    const { slug } = await create();
    const complete = async (ref: object, name: string, value: string) =>
      ((await rpc.request("completion/complete", { ref, argument: { name, value } })).reply!.result as { completion: { values: string[] } })
        .completion.values;
    expect(await complete({ type: "ref/resource", uri: "nodeloom://node-kinds/{type}" }, "type", "generate-v")).toEqual(["generate-video"]);
    expect(await complete({ type: "ref/resource", uri: "nodeloom://docs/{+path}" }, "path", "guide/nodes/appr")).toEqual([
      "guide/nodes/approval",
    ]);
    expect(await complete({ type: "ref/prompt", name: "fix_workflow" }, "workflow", slug)).toContain(slug);
    expect(await complete({ type: "ref/prompt", name: "fix_workflow" }, "executionId", "")).toEqual([]);
  });
});

describe("fixtures of the protocol's conformance suite", () => {
  it("are absent, unless MCP_FIXTURES is set outside of production", async () => {
    const { tools } = (await rpc.request("tools/list")).reply!.result as { tools: { name: string }[] };
    expect(tools.filter(({ name }) => name.startsWith("test_"))).toEqual([]);
    expect((await rpc.call("test_simple_text")).reply!.error).toMatchObject({ code: -32_602 });
    expect((await rpc.request("resources/read", { uri: "test://static-text" })).reply!.error).toBeDefined();
    expect(() => mcpFixtures({ MCP_FIXTURES: true, NODE_ENV: "production" })).toThrow("MCP_FIXTURES is for tests");
    expect([mcpFixtures({ MCP_FIXTURES: true, NODE_ENV: "test" }), mcpFixtures({ MCP_FIXTURES: false, NODE_ENV: "production" })]).toEqual([
      true,
      false,
    ]);
  });
});
