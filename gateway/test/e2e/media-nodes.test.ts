import { readFileSync } from "node:fs";
import { join } from "node:path";
import { clientOf, fetchFile, type Account, type Answer } from "../../../test-support/client";
import { edge, node } from "../../../test-support/graphs";
import { startPlatform, type Platform } from "../../../test-support/platform";
import { describeWithFfmpeg } from "../../../test-support/ffmpeg";

/** Nodes that process files, from the request to the resulting file. */

let platform: Platform;
let client: ReturnType<typeof clientOf>;
let user: Account;
beforeAll(async () => {
  platform = await startPlatform();
  client = clientOf(platform);
  user = await client.account({ tier: "business" });
});
afterAll(() => platform.stop());

const post = (path: string, body: unknown): Promise<Answer> => client.call("POST", path, { key: user.key, body });
const run = async (graph: { nodes: unknown[]; edges: unknown[] }): Promise<Answer> => {
  const saved = await post("/api/workflows", { name: "Files", ...graph });
  expect(saved.status).toBe(201);
  return post(`/api/workflows/${(saved.body as { slug: string }).slug}/run`, { inputs: {} });
};
const pictures = (...prompts: string[]): unknown[] => [
  node("prompts", "list", { items: prompts }),
  node("picture", "generate-image", { model: "sandbox-image-fast", inputs: { sandbox: { latencyMs: 10 } } }),
];
const FROM_PROMPTS = edge("prompts.items", "picture.prompt");
interface Files {
  images: { url: string }[];
  videos: { url: string }[];
}
const resultOf = ({ body }: Answer): Files => (body as unknown as { result: Files }).result;
/** Width and height in a PNG. */
const sizeOf = async (url: string): Promise<[number, number]> => {
  const bytes = Buffer.from(await (await fetch(url)).arrayBuffer());
  return [bytes.readUInt32BE(16), bytes.readUInt32BE(20)];
};

it("passes a list to a list port as one call, and fans out at other ports", async () => {
  const answer = await run({
    nodes: [
      ...pictures("a loom", "a thread", "a knot"),
      node("small", "media", { operation: "image-resize", width: 40, height: 30, fit: "fill" }),
      node("grid", "media", { operation: "image-grid", columns: 3, cellWidth: 40, cellHeight: 30, gap: 2 }),
      node("out", "response-output"),
    ],
    edges: [
      FROM_PROMPTS,
      edge("picture.image", "small.image"),
      edge("small.image", "grid.images"),
      edge("small.image", "out.images"),
      edge("grid.image", "out.grid"),
    ],
  });
  expect(answer.status).toBe(200);
  const { images, grid } = resultOf(answer) as Files & { grid: { url: string; width: number; height: number } };
  expect(images).toHaveLength(3);
  expect(await sizeOf(images[0]!.url)).toEqual([40, 30]);
  expect(grid).toMatchObject({ width: 3 * 40 + 4 * 2, height: 30 + 2 * 2 });
  expect(await sizeOf(grid.url)).toEqual([128, 34]);
  const execution = await client.call("GET", `/api/executions/${answer.headers.get("x-execution-id")}`, { key: user.key });
  const nodes = (execution.body as unknown as { nodes: { id: string; creditsCost: number; calls?: unknown[] }[] }).nodes;
  const of = (id: string) => nodes.find((one) => one.id === id)!;
  expect([of("small").calls?.length, of("small").creditsCost, of("grid").creditsCost]).toEqual([3, 0, 0]);
});

it("fails the node if its file can't be processed, and gives the reason", async () => {
  const playlist = "#EXTM3U\n#EXTINF:1,\nhttp://127.0.0.1:9/secret.ts\n";
  const headers = { "x-api-key": user.key!, "content-type": "image/png" };
  const uploaded = (await (await fetch(`${platform.baseUrl}/api/media`, { method: "POST", headers, body: playlist })).json()) as {
    id: string;
  };
  const answer = await run({
    nodes: [
      node("file", "media-upload", { mediaId: uploaded.id }),
      node("small", "media", { operation: "image-resize", width: 40 }),
      node("out", "response-output"),
    ],
    edges: [edge("file.media", "small.image"), edge("small.image", "out.images")],
  });
  expect(answer.status).toBeGreaterThanOrEqual(400);
  expect(answer.text).toContain("small");
  expect(answer.text).toContain("must be an image");
});

it("warns once for all items if a node's result omits pictures of an animation", async () => {
  const gif = readFileSync(join(__dirname, "../../../services/media/test/fixtures/titled.gif"));
  const headers = { "x-api-key": user.key!, "content-type": "image/gif" };
  const { url } = (await (await fetch(`${platform.baseUrl}/api/media`, { method: "POST", headers, body: gif })).json()) as { url: string };
  const answer = await run({
    nodes: [
      node("files", "list", { items: [url, url] }),
      node("still", "media", { operation: "image-convert", format: "png" }),
      node("out", "response-output"),
    ],
    edges: [edge("files.items", "still.image"), edge("still.image", "out.images")],
  });
  expect(answer.status).toBe(200);
  const execution = await client.call("GET", `/api/executions/${answer.headers.get("x-execution-id")}`, { key: user.key });
  const { nodes } = execution.body as unknown as { nodes: { id: string; warnings?: string[] }[] };
  expect(nodes.find(({ id }) => id === "still")?.warnings).toEqual([
    expect.stringMatching(/^image: only the first of \d+ pictures of the animation is used$/),
  ]);
});

it("rejects an unknown operation, and suggests a similar one", async () => {
  const answer = await run({ nodes: [node("one", "media", { operation: "image-resiz" }), node("out", "response-output")], edges: [] });
  expect(answer.status).toBe(422);
  expect(answer.text).toContain("there is no image-resiz: did you mean image-resize?");
});

describeWithFfmpeg("with ffmpeg", () => {
  it("makes a film of images, speech and captions in one call", async () => {
    const answer = await run({
      nodes: [
        ...pictures("a loom", "a thread", "a knot"),
        node("speech", "generate-audio", {
          model: "sandbox-speech",
          inputs: { prompt: "Threads become cloth.", sandbox: { latencyMs: 10 } },
        }),
        node("show", "media", { operation: "video-slideshow", timing: "audio", transition: "fade", width: 320, height: 180 }),
        node("titled", "media", { operation: "video-captions", text: "Threads become cloth." }),
        node("twice", "media", { operation: "video-concat" }),
        node("out", "response-output"),
      ],
      edges: [
        FROM_PROMPTS,
        edge("picture.image", "show.images"),
        edge("speech.audio", "show.audio"),
        edge("show.video", "titled.video"),
        edge("show.video", "twice.videos"),
        edge("titled.video", "twice.videos"),
        edge("twice.video", "out.videos"),
        edge("twice.video", "out.film"),
        edge("speech.audio", "out.speech"),
      ],
    });
    expect(answer.text).not.toContain("EXECUTION_FAILED");
    expect(answer.status).toBe(200);
    const { videos, film } = resultOf(answer) as Files & { film: { width: number; height: number; duration: number } };
    expect((await fetchFile(videos[0]!.url)).contentType).toBe("video/mp4");
    expect([film.width, film.height]).toEqual([320, 180]);
    expect(film.duration).toBeGreaterThan(1);
  });
});
