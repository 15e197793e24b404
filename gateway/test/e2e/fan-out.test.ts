import { once } from "node:events";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { clientOf, eventually, type Account, type Answer } from "./support/client";
import { edge, node } from "./support/graphs";
import { startPlatform, type Platform } from "./support/platform";

let platform: Platform;
let client: ReturnType<typeof clientOf>;
let user: Account;
let origin: Server;
let listUrl: string;

beforeAll(async () => {
  origin = createServer((request, response) => {
    const items = decodeURIComponent(request.url!.slice(1)).split(",");
    response.setHeader("content-type", "application/json").end(JSON.stringify({ items }));
  }).listen(0, "127.0.0.1");
  await once(origin, "listening");
  const address = `127.0.0.1:${(origin.address() as AddressInfo).port}`;
  listUrl = `http://${address}`;
  platform = await startPlatform({ allow: [address] });
  client = clientOf(platform);
  user = await client.account({ tier: "business" });
}, 60_000);
afterAll(async () => {
  await platform.stop();
  origin.closeAllConnections();
  origin.close();
});

const FINAL = ["completed", "failed", "cancelled"];
const post = (path: string, body: unknown = {}): Promise<Answer> => client.call("POST", path, { key: user.key, body });
const poll = (id: string): Promise<Answer> => client.call("GET", `/api/executions/${id}`, { key: user.key });
const start = async (nodes: unknown[], edges: unknown[], query = ""): Promise<Answer> => {
  const saved = await post("/api/workflows", { name: "Fan-out", nodes, edges });
  expect(saved.status).toBe(201);
  return post(`/api/workflows/${(saved.body as unknown as { slug: string }).slug}/run${query}`, { inputs: {} });
};
type NodeRow = { id: string; status: string; creditsCost: number; error: { message: string } | null; cancelReport?: string };
const nodesOf = (answer: Answer): Map<string, NodeRow> => new Map((answer.body.nodes as NodeRow[]).map((row) => [row.id, row]));
const settled = (id: string): Promise<Answer> =>
  eventually(
    () => poll(id),
    ({ body }) => FINAL.includes(body.status as string),
  );
const credits = async (): Promise<{ plan: number; held: number }> =>
  (await client.call("GET", "/api/me", { cookie: user.cookie })).body.credits as { plan: number; held: number };

/** Wholesale 0.004 USD at the business markup of 1.3. */
const FAST_IMAGE_CREDITS = 0.52;
const OUT = node("out", "response-output");

it("maps a node over a list that is known only when it runs, in order, and charges the calls it made", async () => {
  const before = await credits();
  const { status, body, headers } = await start(
    [
      node("web", "http-request", { method: "GET", url: `${listUrl}/red,green,blue`, extract: "/items" }),
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
  expect(nodesOf(await poll(headers.get("x-execution-id")!)).get("pic")).toMatchObject({ status: "completed", error: null });
});

it("fails with the node's name when lists that are known only then differ in length", async () => {
  const { status, body } = await start(
    [
      node("web", "http-request", { method: "GET", url: `${listUrl}/red,green`, extract: "/items" }),
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
  const before = await credits();
  const { status, body, headers } = await start(
    [
      node("faults", "list", { items: [{ latencyMs: 0 }, { fail: "job", latencyMs: 1_500 }] }),
      node("pic", "generate-image", { model: "sandbox-image-fast", inputs: { prompt: "a loom" } }),
      OUT,
    ],
    [edge("faults.items", "pic.sandbox"), edge("pic.image", "out.images")],
  );
  expect(status).toBe(500);
  expect(body).toMatchObject({ code: "EXECUTION_FAILED", error: expect.stringMatching(/node pic: /) as string });
  const { body: execution } = await poll(headers.get("x-execution-id")!);
  expect(execution).toMatchObject({ status: "failed", creditsCost: FAST_IMAGE_CREDITS });
  expect(before.plan - (await credits()).plan).toBeCloseTo(FAST_IMAGE_CREDITS, 3);
});

it("stops what still runs of a half-done fan-out, and charges what was held", async () => {
  const before = await credits();
  const { status, body } = await start(
    [
      node("speeds", "list", { items: [{ latencyMs: 0 }, { fail: "hang" }, { fail: "hang" }] }),
      node("clip", "generate-video", { model: "sandbox-video", inputs: { prompt: "a loom", seconds: 1 } }),
      OUT,
    ],
    [edge("speeds.items", "clip.sandbox"), edge("clip.video", "out.videos")],
    "?async=true",
  );
  expect(status).toBe(202);
  const id = body.executionId as string;
  expect((await post(`/api/executions/${id}/cancel`)).body.status).toBe("cancel_requested");
  const answer = await settled(id);
  expect(answer.body.status).toBe("cancelled");
  expect(nodesOf(answer).get("clip")).toMatchObject({ status: "cancelled", cancelReport: expect.any(String) as string });
  // Three seconds of video at 0.05 USD and a markup of 1.3.
  expect(before.plan - (await credits()).plan).toBeCloseTo(3 * 6.5, 3);
  expect((await credits()).held).toBe(0);
  expect((await post(`/api/executions/${id}/cancel`)).body.status).toBe("already_cancelled");
});

it("runs nodes whatever they are called", async () => {
  const names = ["画像 ☃", "constructor", "a.b$c:d", "x".repeat(200)];
  const { status, body } = await start(
    [
      ...names.map((id) => ({ ...(node(id, "generate-image", { model: "sandbox-image", inputs: { prompt: "a loom" } }) as object) })),
      node("web", "http-request", { method: "POST", url: `${listUrl}/x` }),
      OUT,
    ],
    names.map((source) => ({ id: source, source, sourceHandle: "image", target: "out", targetHandle: "images" })),
  );
  expect({ status, error: body.error }).toEqual({ status: 200, error: undefined });
  expect((body.result as { images: unknown[] }).images).toHaveLength(4);
});
