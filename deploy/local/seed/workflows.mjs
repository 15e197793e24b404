import { readFileSync } from "node:fs";
import { expectStatus } from "./client.mjs";
import { edge, node, textField } from "./graph.mjs";

const HELLO = {
  slug: "hello-nodeloom",
  name: "Hello Nodeloom",
  description: "One prompt in, one picture out.",
  tags: ["demo"],
  nodes: [
    node("input", "request-input", 0, 0, { fields: [textField("prompt", "Prompt", "a paper boat on a quiet lake")], values: {} }),
    node("image", "generate-image", 1, 0, { model: "sandbox-image", inputs: {} }),
    node("output", "response-output", 2, 0, {}),
  ],
  edges: ["input.prompt -> image.prompt", "image.image -> output.images"].map(edge),
};

/** Workflow in the documentation's examples, created with the business account's key. */
export const POSTER_MAKER = {
  slug: "poster-maker",
  name: "Poster maker",
  description: "A poster of what you describe.",
  tags: ["demo"],
  nodes: [
    node("input", "request-input", 0, 0, { fields: [textField("prompt", "Prompt", "A lighthouse at dusk")], values: {} }),
    node("wording", "text-box", 1, 0, { text: "{{prompt}}. A poster with bold shapes, few colours and no text." }),
    node("image", "generate-image", 2, 0, { model: "sandbox-image", inputs: {} }),
    node("output", "response-output", 3, 0, {}),
  ],
  edges: ["input.prompt -> wording.prompt", "wording.text -> image.prompt", "image.image -> output.images"].map(edge),
};

const GREETING = {
  slug: "greeting",
  name: "Greeting",
  description: "Fills a text template; needs no model and costs nothing.",
  tags: ["demo"],
  nodes: [
    node("input", "request-input", 0, 0, { fields: [textField("name", "Name", "world")], values: {} }),
    node("text", "text-box", 1, 0, { text: "Hello, {{name}}!" }),
    node("output", "response-output", 2, 0, {}),
  ],
  edges: ["input.name -> text.name", "text.text -> output.text"].map(edge),
};

const SHORT_CLIP = {
  slug: "short-clip",
  name: "Short clip",
  description: "A video of a few seconds; runs asynchronously too.",
  tags: ["demo", "video"],
  nodes: [
    node("input", "request-input", 0, 0, { fields: [textField("prompt", "Prompt", "a train crossing a bridge in the rain")], values: {} }),
    node("video", "generate-video", 1, 0, { model: "sandbox-video", inputs: { seconds: 2 } }),
    node("output", "response-output", 2, 0, {}),
  ],
  edges: ["input.prompt -> video.prompt", "video.video -> output.videos"].map(edge),
};

/** One run: a language model writes scenes as JSON, each scene becomes an image, and each image a video. */
const STORYBOARD = JSON.parse(readFileSync(new URL("storyboard.json", import.meta.url), "utf8"));

/** Workflows of the pro account. */
const DEMOS = [HELLO, GREETING, SHORT_CLIP, STORYBOARD];
export const WORKFLOWS = [...DEMOS, POSTER_MAKER];

/** Workflow and input of the demo run at start-up. */
export const DEMO = { slug: HELLO.slug, inputs: { prompt: "a loom weaving light into pictures" } };

/** Demo of an asynchronous run. */
export const ASYNC_DEMO = { slug: SHORT_CLIP.slug, inputs: { prompt: "a kite over the sea" } };

/**
 * Creates missing demo workflows.
 * @param {{ client: import("./client.mjs").Client, key: string, workflows?: typeof DEMOS }} options `key`: key of their owner
 */
export const seedWorkflows = async ({ client, key, workflows = DEMOS }) => {
  for (const { slug, ...workflow } of workflows) {
    const existing = expectStatus(`reading workflow ${slug}`, await client("GET", `/api/workflows/${slug}`, { key }), 200, 404);
    if (existing.status === 200) continue;
    expectStatus(`creating workflow ${slug}`, await client("POST", "/api/workflows", { key, body: workflow }), 201);
  }
};

/**
 * Runs the demo workflow like a client.
 * @param {{ client: import("./client.mjs").Client, key: string, traceId?: string }} options `traceId`: 32 hex digits
 * @returns {Promise<{ result: { images: { url: string }[] }, cost: number, ms: number }>}
 */
export const runDemo = async ({ client, key, traceId }) => {
  const answer = await client("POST", `/api/workflows/${DEMO.slug}/run`, { key, traceId, body: { inputs: DEMO.inputs } });
  const { body } = expectStatus("the demo run", answer, 200);
  const url = body.result?.images?.[0]?.url;
  if (typeof url !== "string") throw new Error(`the demo run answered without a picture: ${JSON.stringify(body)}`);
  expectStatus("reading the demo run's picture", await client("GET", url), 200);
  return body;
};
