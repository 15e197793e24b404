import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { clientOf, fetchFile, type Account, type Answer } from "../../../test-support/client";
import { edge, node } from "../../../test-support/graphs";
import { startPlatform, type Platform } from "../../../test-support/platform";

/** A template of a new installation. */
interface Template {
  nodes: { id: string; data: Record<string, unknown> }[];
  edges: unknown[];
}
const SEED = join(__dirname, "..", "..", "..", "deploy", "local", "seed");
const { slug: _slug, ...STORYBOARD } = JSON.parse(readFileSync(join(SEED, "storyboard.json"), "utf8")) as Template & { slug: string };

/**
 * Seeds templates with the launcher's code, which is ESM.
 * @returns the number of created templates
 */
const seedTemplates = (baseUrl: string, key: string): number => {
  const script = `Promise.all([import(process.argv[1] + "/client.mjs"), import(process.argv[1] + "/templates/index.mjs")])
    .then(([{ createClient }, { seedTemplates }]) => seedTemplates({ client: createClient(process.argv[2]), key: process.argv[3] }))
    .then((created) => process.stdout.write(String(created)))`;
  return Number(execFileSync(process.execPath, ["-e", script, SEED, baseUrl, key]).toString());
};

let platform: Platform;
let client: ReturnType<typeof clientOf>;
let user: Account;
beforeAll(async () => {
  platform = await startPlatform();
  client = clientOf(platform);
  user = await client.account({ tier: "business" });
});
afterAll(() => platform.stop());

const post = (path: string, body: unknown, { key }: Account = user): Promise<Answer> => client.call("POST", path, { key, body });
const get = (path: string): Promise<Answer> => client.call("GET", path, { key: user.key });
/** Saves the template with other settings for its text model. */
const save = async (writer: Record<string, unknown> = {}, owner = user): Promise<string> => {
  const nodes = STORYBOARD.nodes.map((node) => (node.id === "writer" ? { ...node, data: { ...node.data, ...writer } } : node));
  const saved = await post("/api/workflows", { ...STORYBOARD, nodes }, owner);
  expect(saved.status).toBe(201);
  return (saved.body as unknown as { slug: string }).slug;
};
const run = async (slug: string): Promise<Answer> => post(`/api/workflows/${slug}/run`, { inputs: { topic: "a loom that weaves light" } });
interface Node {
  id: string;
  status: string;
  creditsCost: number;
  outputs?: Record<string, unknown>;
  calls?: { item: number; status: string }[];
}
const nodesOf = async (answer: Answer): Promise<Map<string, Node>> => {
  const { body } = await get(`/api/executions/${answer.headers.get("x-execution-id")}`);
  return new Map((body as unknown as { nodes: Node[] }).nodes.map((node) => [node.id, node]));
};
const heldCredits = async (): Promise<number> => {
  const { body } = await client.call("GET", "/api/me", { cookie: user.cookie });
  return (body as unknown as { credits: { held: number } }).credits.held;
};

it("creates scenes, an image of each and a video of each image in one call, from another user's template", async () => {
  const slug = await save({}, await client.account({ tier: "pro" }));
  const quote = (await post(`/api/workflows/${slug}/quote`, { inputs: {} })).body as {
    estimatedCreditCost: number;
    maxCreditCost: number;
    exact: boolean;
  };
  // The text model may need a second response.
  expect(quote.maxCreditCost).toBeGreaterThan(quote.estimatedCreditCost);
  expect(quote.exact).toBe(false);

  const answer = await run(slug);
  expect(answer.status).toBe(200);
  const { result, cost } = answer.body as unknown as {
    result: { scenes: { title: string; still: string; motion: string }[]; images: { url: string }[]; videos: { url: string }[] };
    cost: number;
  };
  const { length } = result.scenes;
  expect(length).toBeGreaterThanOrEqual(2);
  expect([result.images, result.videos].map((files) => files.length)).toEqual([length, length]);
  expect(result.scenes.every(({ still }) => still.includes("loom"))).toBe(true);
  const types = await Promise.all([...result.images, ...result.videos].map(async ({ url }) => (await fetchFile(url)).contentType));
  expect(types).toEqual([...Array<string>(length).fill("image/png"), ...Array<string>(length).fill("video/mp4")]);
  expect(cost).toBeLessThanOrEqual(quote.maxCreditCost);

  const nodes = await nodesOf(answer);
  expect(nodes.get("writer")!.outputs).toMatchObject({ json: result.scenes, text: JSON.stringify(result.scenes) });
  expect(nodes.get("video")!.calls!.map(({ item, status }) => [item, status])).toEqual(
    Array.from({ length }, (_, item) => [item, "completed"]),
  );
  expect(await heldCredits()).toBe(0);
});

it("asks once more if the first answer doesn't match, and charges both", async () => {
  const plain = await nodesOf(await run(await save()));
  const answer = await run(await save({ inputs: { sandbox: { fail: "invalid" } } }));
  expect(answer.status).toBe(200);
  const repaired = await nodesOf(answer);
  expect(repaired.get("writer")!.outputs).toEqual(plain.get("writer")!.outputs);
  expect(repaired.get("writer")!.creditsCost).toBeGreaterThan(plain.get("writer")!.creditsCost);
  expect(await heldCredits()).toBe(0);
});

it("fails the node if no response matches; only completed calls are charged", async () => {
  const answer = await run(await save({ inputs: { sandbox: { fail: "unfit" } } }));
  expect(answer.status).toBe(500);
  expect(answer.body).toMatchObject({ code: "EXECUTION_FAILED", nodeId: "writer" });
  expect(answer.body.error).toContain("its answer does not fit the schema: it isn't JSON");
  const nodes = await nodesOf(answer);
  expect(nodes.get("writer")!.creditsCost).toBeGreaterThan(0);
  expect([nodes.get("image")!.status, nodes.get("video")!.status]).toEqual(["skipped", "skipped"]);
  expect(await heldCredits()).toBe(0);
});

interface Quote {
  estimatedCreditCost: number;
  exact: boolean;
  nodes: { id: string; reusedItems: number[]; savedCredits: number }[];
  reused: { calls: number; of: number; savedCredits: number };
}
const idOf = (answer: Answer): string => answer.headers.get("x-execution-id")!;
const urlsOf = ({ body }: Answer): string[] =>
  (body as unknown as { result: { images: { url: string }[] } }).result.images.map(({ url }) => url);

it("after a change of one of three prompts pays for one picture, as quoted, and for nothing without a change", async () => {
  const graphOf = (prompts: string[]) => ({
    nodes: [
      node("prompts", "list", { items: prompts }),
      node("picture", "generate-image", { model: "sandbox-image" }),
      node("out", "response-output"),
    ],
    edges: [edge("prompts.items", "picture.prompt"), edge("picture.image", "out.images")],
  });
  const saved = await post("/api/workflows", { name: "Three pictures", ...graphOf(["a loom", "a reed", "a weft"]) });
  const { slug } = saved.body as unknown as { slug: string };
  const first = await post(`/api/workflows/${slug}/run`, { inputs: {} });
  const cost = (first.body as unknown as { cost: number }).cost;
  const changed = await client.call("PUT", `/api/workflows/${slug}`, { key: user.key, body: graphOf(["a loom", "a comb", "a weft"]) });
  expect(changed.status).toBe(200);

  const again = `/api/executions/${idOf(first)}/rerun`;
  const quoted = (await post(`${again}/quote`, { version: "draft" })).body as unknown as Quote;
  expect(quoted).toMatchObject({ exact: true, reused: { calls: 2, of: 3 }, nodes: [{ id: "picture", reusedItems: [0, 2] }] });
  const rerun = await post(again, { version: "draft" });
  expect(rerun.body).toMatchObject({ success: true, cost: quoted.estimatedCreditCost });
  expect(quoted.estimatedCreditCost).toBeCloseTo(cost / 3);
  expect(quoted.reused.savedCredits).toBeCloseTo((cost * 2) / 3);
  const [before, after] = [urlsOf(first), urlsOf(rerun)];
  expect([after[0], after[2]]).toEqual([before[0], before[2]]);
  expect(after[1]).not.toBe(before[1]);
  const { body } = await get(`/api/executions/${idOf(rerun)}`);
  const calls = (body.nodes as { id: string; calls?: { reusedFrom?: string; creditsCost: number }[] }[]).find(
    ({ id }) => id === "picture",
  )!.calls!;
  expect(body.rerunOf).toBe(idOf(first));
  expect(calls.map(({ reusedFrom }) => reusedFrom)).toEqual([idOf(first), undefined, idOf(first)]);
  expect(calls.map(({ creditsCost }) => creditsCost > 0)).toEqual([false, true, false]);

  // Without a version the rerun uses the graph of the run. Calls of a named node are repeated.
  const back = await post(`/api/executions/${idOf(rerun)}/rerun`, { version: "draft" });
  expect(back.body).toMatchObject({ cost: 0 });
  expect(urlsOf(back)).toEqual(after);
  expect((await post(again, {})).body).toMatchObject({ cost: 0 });
  expect((await post(again, { nodes: ["picture"] })).body).toMatchObject({ cost });
  expect(await heldCredits()).toBe(0);
});

it("reuses a whole storyboard, with the nodes after its writer, for free", async () => {
  const first = await run(await save());
  const again = `/api/executions/${idOf(first)}/rerun`;
  const quoted = (await post(`${again}/quote`, {})).body as unknown as Quote;
  expect(quoted).toMatchObject({ estimatedCreditCost: 0, exact: true });
  expect(quoted.reused.calls).toBe(quoted.reused.of);
  const rerun = await post(again, {});
  expect(rerun.body).toMatchObject({ cost: 0, result: (first.body as unknown as { result: object }).result });
  const nodes = await nodesOf(rerun);
  expect(nodes.get("writer")).toMatchObject({ status: "completed", creditsCost: 0, reusedFrom: idOf(first) });
  expect(await heldCredits()).toBe(0);
});

it("rejects a rerun of another account's run, and by keys without the right to run or read", async () => {
  const first = await run(await save());
  const again = `/api/executions/${idOf(first)}/rerun`;
  const stranger = await client.account({ tier: "pro" });
  const refusals = await Promise.all([
    post(again, {}, stranger),
    post(again, {}, await client.account({ tier: "pro", capabilities: ["workflow:run"] })),
    post(again, { nodes: ["nowhere"] }),
    post(`${again}/quote`, { reuse: ["nowhere"] }),
    post("/api/executions/00000000-0000-4000-8000-000000000000/rerun", {}),
  ]);
  expect(refusals.map(({ status, body }) => [status, body.code])).toEqual([
    [404, "EXECUTION_NOT_FOUND"],
    [403, "CAPABILITY_DENIED"],
    [400, "INVALID_REQUEST"],
    [400, "INVALID_REQUEST"],
    [404, "EXECUTION_NOT_FOUND"],
  ]);
});

it("is one of the templates that are seeded once, with covers, and that others can run with the files of their author", async () => {
  const { key } = (await client.asAdmin("POST", "/api/keys", { name: "Seed", capabilities: ["*"] })).body as { key: string };
  const count = seedTemplates(platform.baseUrl, key);
  expect(count).toBeGreaterThanOrEqual(12);
  expect(seedTemplates(platform.baseUrl, key)).toBe(0);
  const listed = (await get("/api/workflows")).body as unknown as { slug: string; featured?: boolean; cover: { image?: string } | null }[];
  const seeded = listed.filter(({ featured }) => featured === true);
  expect(seeded).toHaveLength(count);
  for (const { cover } of seeded) expect((await fetchFile(new URL(cover!.image!, platform.baseUrl).href)).contentType).toBe("image/webp");
  const thumbnails = await post("/api/workflows/thumbnail-set/run", { inputs: { title: "By the sea" } });
  expect([thumbnails.status, thumbnails.body.cost]).toEqual([200, 0]);
  expect((thumbnails.body.result as { images: unknown[] }).images).toHaveLength(3);
});
