import { EventEmitter, once } from "node:events";
import { clientOf, eventually, paced, type Account, type Answer } from "../../../test-support/client";
import { edge, node } from "../../../test-support/graphs";
import { startRecorder, type Recorder } from "../../../test-support/recorder";
import { startPlatform, type Platform } from "../../../test-support/platform";

let platform: Platform;
let client: ReturnType<typeof clientOf>;
let user: Account;
let origin: Recorder;
/** Reports when a request that gets no response arrives, and when it is cancelled. */
const hangs = new EventEmitter();

beforeAll(async () => {
  origin = await startRecorder((response, { path }) => {
    if (path === "/hang") {
      hangs.emit("begun");
      return void response.once("close", () => hangs.emit("over"));
    }
    const items = decodeURIComponent(path.slice(1)).split(",").filter(Boolean);
    response.setHeader("content-type", "application/json").end(JSON.stringify({ items }));
  });
  platform = await startPlatform({ allow: [origin.address] });
  client = clientOf(platform);
  user = await client.account({ tier: "business" });
});
afterAll(async () => {
  await platform.stop();
  await origin.close();
});

const FINAL = ["completed", "failed", "cancelled"];
const post = (path: string, body: unknown = {}): Promise<Answer> => client.call("POST", path, { key: user.key, body });
const poll = (id: string): Promise<Answer> => client.call("GET", `/api/executions/${id}`, { key: user.key });
const start = async (nodes: unknown[], edges: unknown[], query = ""): Promise<Answer> => {
  const saved = await post("/api/workflows", { name: "Fan-out", nodes, edges });
  expect(saved.status).toBe(201);
  return post(`/api/workflows/${(saved.body as unknown as { slug: string }).slug}/run${query}`, { inputs: {} });
};
interface NodeRow {
  id: string;
  label?: string;
  status: string;
  creditsCost: number;
  items?: number;
  itemsDone?: number;
  error: { message: string } | null;
  cancelReport?: string;
}
const nodesOf = (answer: Answer): Map<string, NodeRow> => new Map((answer.body.nodes as NodeRow[]).map((row) => [row.id, row]));
/** Events of a finished run, by node. */
const story = async (id: string): Promise<[string, string | undefined][]> => {
  const response = await fetch(`${platform.baseUrl}/api/executions/${id}/events`, { headers: { "x-api-key": user.key! } });
  const events = (await response.text()).split("\n").filter((line) => line.startsWith("data: "));
  return events.map((line) => {
    const { type, data } = JSON.parse(line.slice("data: ".length)) as { type: string; data: { nodeId?: string } };
    return [type, data.nodeId];
  });
};
const ENDS = ["node.completed", "node.failed", "node.cancelled", "node.skipped"];
const ends = async (id: string): Promise<Record<string, string>> => {
  const log = await story(id);
  const endEvents = log.filter(([type]) => ENDS.includes(type));
  expect(new Set(endEvents.map(([, nodeId]) => nodeId)).size).toBe(endEvents.length);
  expect([log[0]![0], log.at(-1)![0]]).toEqual(["admitted", "settled"]);
  return Object.fromEntries(endEvents.map(([type, nodeId]) => [nodeId!, type.slice("node.".length)]));
};
const settled = (id: string): Promise<Answer> =>
  eventually(
    () => poll(id),
    ({ body }) => FINAL.includes(body.status as string),
  );
/** Calls that the sandbox received so far. */
const providerCounts = async (): Promise<{ jobs: { submissions: number }; chat: { requests: number } }> =>
  (await (await platform.sandboxControl("/sandbox/stats")).json()) as Awaited<ReturnType<typeof providerCounts>>;
const credits = async (): Promise<{ plan: number; held: number }> =>
  (await client.call("GET", "/api/me", { cookie: user.cookie })).body.credits as { plan: number; held: number };

/** Wholesale 0.004 USD at the business markup of 1.3. */
const FAST_IMAGE_CREDITS = 0.52;
const OUT = node("out", "response-output");

it("maps a node over a list that only the run determines, in order, and charges the calls that it made", async () => {
  const before = await credits();
  const { status, body, headers } = await start(
    [
      node("web", "http-request", { method: "GET", url: `${origin.url}/red,green,blue`, extract: "/items" }),
      node("box", "text-box", { text: "a {{colour}} loom" }),
      node("pic", "generate-image", { model: "sandbox-image-fast" }),
      OUT,
    ],
    [edge("web.body", "box.colour"), edge("box.text", "pic.prompt"), edge("pic.image", "out.images"), edge("box.text", "out.prompts")],
  );
  expect({ status, text: status === 200 ? "" : body }).toEqual({ status: 200, text: "" });
  const { result, cost } = body as unknown as { result: { images: unknown[]; prompts: string[] }; cost: number };
  expect(result.prompts).toEqual(["a red loom", "a green loom", "a blue loom"]);
  expect(result.images).toHaveLength(3);
  expect(cost).toBeCloseTo(3 * FAST_IMAGE_CREDITS, 3);
  const after = await credits();
  expect(before.plan - after.plan).toBeCloseTo(cost, 3);
  expect(after.held).toBe(0);
  const id = headers.get("x-execution-id")!;
  expect(nodesOf(await poll(id)).get("pic")).toMatchObject({ status: "completed", error: null, items: 3, itemsDone: 3 });
  expect(await ends(id)).toEqual({ web: "completed", box: "completed", pic: "completed", out: "completed" });
});

it("runs only the branch that a switch selects, charges only that, and reports the others as skipped", async () => {
  const picture = (id: string): unknown => node(id, "generate-image", { model: "sandbox-image-fast", inputs: { prompt: "{{what}}" } });
  const nodes = [
    node("web", "http-request", { method: "GET", url: `${origin.url}/red`, extract: "/items/0" }),
    node("switch", "switch", { cases: [{ name: "warm", left: "{{value}}", op: "matches", right: "^(red|yellow)$" }] }),
    picture("sun"),
    picture("sea"),
    OUT,
  ];
  const edges = [
    edge("web.body", "switch.value"),
    edge("switch.warm", "sun.what"),
    edge("switch.else", "sea.what"),
    edge("sun.image", "out.images"),
    edge("sea.image", "out.images"),
    edge("sea.image", "out.cold"),
  ];
  const saved = await post("/api/workflows", { name: "Branches", nodes, edges });
  const path = `/api/workflows/${(saved.body as unknown as { slug: string }).slug}`;
  const quoted = await post(`${path}/quote`, { inputs: {} });
  expect(quoted.body).toMatchObject({ estimatedCreditCost: 2 * FAST_IMAGE_CREDITS, exact: false });
  const { status, body, headers } = await post(`${path}/run`, { inputs: {} });
  expect(status).toBe(200);
  const { result, cost } = body as unknown as { result: { images: unknown[] }; cost: number };
  expect(Object.keys(result)).toEqual(["images"]);
  expect(result.images).toHaveLength(1);
  expect(cost).toBeCloseTo(FAST_IMAGE_CREDITS, 3);
  expect((await credits()).held).toBe(0);
  expect(await ends(headers.get("x-execution-id")!)).toEqual({
    ...{ web: "completed", switch: "completed", sun: "completed", out: "completed" },
    sea: "skipped",
  });
});

it("fails with the node's name if lists that only the run determines differ in length", async () => {
  const { status, body } = await start(
    [
      node("web", "http-request", { method: "GET", url: `${origin.url}/red,green`, extract: "/items" }),
      node("three", "list", { items: ["a", "b", "c"] }),
      node("box", "text-box", { text: "{{one}} {{two}}" }),
      OUT,
    ],
    [edge("web.body", "box.one"), edge("three.items", "box.two"), edge("box.text", "out.text")],
  );
  expect(status).toBe(500);
  expect(body).toMatchObject({ code: "EXECUTION_FAILED", error: expect.stringMatching(/node box: .*lengths must agree/) as string });
});

it("charges a failed fan-out for the calls that completed, and names the node", async () => {
  await paced(async (seconds) => {
    const before = await credits();
    const { status, body, headers } = await start(
      [
        node("faults", "list", { items: [{ latencyMs: 0 }, { fail: "job", latencyMs: seconds * 1_000 }] }),
        node("pic", "generate-image", { model: "sandbox-image-fast", inputs: { prompt: "a loom" } }),
        OUT,
      ],
      [edge("faults.items", "pic.sandbox"), edge("pic.image", "out.images")],
    );
    expect(status).toBe(500);
    expect(body).toMatchObject({ code: "EXECUTION_FAILED", error: expect.stringMatching(/node pic: /) as string });
    const { body: execution } = await poll(headers.get("x-execution-id")!);
    // The other call hadn't ended yet.
    if (execution.creditsCost === 0) return false;
    expect(execution).toMatchObject({ status: "failed", creditsCost: FAST_IMAGE_CREDITS });
    expect(before.plan - (await credits()).plan).toBeCloseTo(FAST_IMAGE_CREDITS, 3);
    return true;
  });
});

it("calls nothing for an empty list, and charges nothing", async () => {
  const { status, body, headers } = await start(
    [
      node("web", "http-request", { method: "GET", url: `${origin.url}/,`, extract: "/items" }),
      node("pic", "generate-image", { model: "sandbox-image-fast" }),
      node("clip", "generate-video", { model: "sandbox-video", inputs: { prompt: "a loom", seconds: 1 } }),
      OUT,
    ],
    [edge("web.body", "pic.prompt"), edge("pic.image", "clip.image"), edge("pic.image", "out.images"), edge("clip.video", "out.made")],
  );
  expect({ status, body }).toMatchObject({ status: 200, body: { result: { images: [], made: [] }, cost: 0 } });
  const id = headers.get("x-execution-id")!;
  expect(nodesOf(await poll(id)).get("pic")).toMatchObject({ status: "completed", items: 0, itemsDone: 0 });
  expect(await ends(id)).toEqual({ web: "completed", pic: "completed", clip: "completed", out: "completed" });
});

it("fails with the node's name, stops the other calls at their providers, and shows the state of every node", async () => {
  await paced(async (seconds) => {
    const { status, body, headers } = await start(
      [
        node("text", "text-box", { text: "a loom" }),
        node("still", "generate-image", { model: "sandbox-image-fast", inputs: { sandbox: { latencyMs: 0 } } }),
        node("clip", "generate-video", {
          label: "The trailer",
          model: "sandbox-video",
          inputs: { seconds: 1, sandbox: { fail: "job", latencyMs: seconds * 1_000 } },
        }),
        node("song", "generate-audio", { model: "sandbox-music", inputs: { sandbox: { fail: "hang" } } }),
        node("behind", "text-box", { text: "{{clip}} of {{still}}" }),
        OUT,
      ],
      [
        ...["still", "clip", "song"].map((id) => edge("text.text", `${id}.prompt`)),
        edge("clip.video", "behind.clip"),
        edge("still.image", "behind.still"),
        edge("behind.text", "out.text"),
      ],
    );
    expect(status).toBe(500);
    expect(body).toMatchObject({ code: "EXECUTION_FAILED", error: expect.stringMatching(/^node "The trailer" \(clip\): /) as string });
    const id = headers.get("x-execution-id")!;
    const answer = await poll(id);
    const rows = nodesOf(answer);
    // The other nodes hadn't reached this state yet.
    if (rows.get("still")!.status !== "completed" || rows.get("song")!.cancelReport === "stopped") return false;
    expect(answer.body).toMatchObject({ status: "failed", error: { nodeId: "clip" }, creditsCost: FAST_IMAGE_CREDITS });
    expect(answer.body.result).toBeUndefined();
    expect(rows.get("clip")).toMatchObject({ status: "failed", label: "The trailer", error: { message: body.error } });
    expect(rows.get("still")).toMatchObject({ status: "completed", creditsCost: FAST_IMAGE_CREDITS, itemsDone: 1 });
    expect(rows.get("song")).toMatchObject({ status: "cancelled", cancelReport: "provider_told", creditsCost: 0 });
    expect(rows.get("behind")).toMatchObject({ status: "skipped" });
    expect(await ends(id)).toEqual({
      ...{ text: "completed", still: "completed", clip: "failed", song: "cancelled", behind: "skipped", out: "skipped" },
    });
    return true;
  });
});

it("reports the effect of a cancellation for every kind of node", async () => {
  const saved = await post("/api/workflows", {
    name: "Everything hangs",
    nodes: [
      node("in", "request-input", { fields: [{ name: "prompt", type: "text", default: "a loom" }] }),
      node("early", "text-box", { text: "{{prompt}}" }),
      node("clip", "generate-video", { model: "sandbox-video", inputs: { seconds: 1, sandbox: { fail: "hang" } } }),
      node("still", "generate-image", { model: "sandbox-image-fast", inputs: { sandbox: { fail: "hang" } } }),
      node("chat", "llm-assistant", { model: "sandbox-chat", inputs: { sandbox: { fail: "hang" } } }),
      node("web", "http-request", { url: `${origin.url}/hang` }),
      node("late", "text-box", { text: "{{chat}}" }),
      node("list", "list", {}),
      node("note", "note", {}),
      OUT,
    ],
    edges: [
      ...["clip", "still", "chat"].map((id) => edge("early.text", `${id}.prompt`)),
      edge("in.prompt", "early.prompt"),
      edge("chat.text", "late.chat"),
      edge("web.body", "list.items"),
      edge("late.text", "out.text"),
    ],
  });
  const path = `/api/workflows/${(saved.body as unknown as { slug: string }).slug}/run`;
  const before = await providerCounts();
  const underWay = Promise.all([
    once(hangs, "begun"),
    eventually(providerCounts, ({ jobs, chat }) => jobs.submissions >= before.jobs.submissions + 2 && chat.requests > before.chat.requests),
  ]);
  const { status, body } = await client.call("POST", path, { key: user.key!, body: { inputs: {} }, headers: { prefer: "wait=0" } });
  expect(status).toBe(202);
  const id = body.executionId as string;
  await underWay;
  await eventually(
    () => poll(id),
    (answer) => answer.body.requestId !== null,
  );
  const hung = once(hangs, "over");
  expect((await post(`/api/executions/${id}/cancel`)).body.status).toBe("cancel_requested");
  // The connection was closed, not only left open.
  await hung;
  const rows = nodesOf(await settled(id));
  expect(Object.fromEntries([...rows.values()].map((row) => [row.id, [row.status, row.cancelReport]]))).toEqual({
    in: ["completed", undefined],
    early: ["completed", undefined],
    clip: ["cancelled", "provider_told"],
    still: ["cancelled", "provider_told"],
    chat: ["cancelled", "stopped"],
    web: ["cancelled", "stopped"],
    late: ["skipped", undefined],
    list: ["skipped", undefined],
    out: ["skipped", undefined],
  });
  expect((await story(id)).map(([type]) => type)).toContain("cancel_requested");
  expect(await ends(id)).toMatchObject({ in: "completed", early: "completed", clip: "cancelled", web: "cancelled", late: "skipped" });
});

it("runs nodes with any names", async () => {
  const names = ["画像 ☃", "constructor", "a.b$c:d", "x".repeat(200)];
  const { status, body } = await start(
    [
      ...names.map((id) => ({ ...(node(id, "generate-image", { model: "sandbox-image", inputs: { prompt: "a loom" } }) as object) })),
      node("web", "http-request", { method: "POST", url: `${origin.url}/x` }),
      OUT,
    ],
    names.map((source) => ({ id: source, source, sourceHandle: "image", target: "out", targetHandle: "images" })),
  );
  expect({ status, error: body.error }).toEqual({ status: 200, error: undefined });
  expect((body.result as { images: unknown[] }).images).toHaveLength(4);
});
