// Records the sound and clip samples of seeded templates into samples/, with the platform of `npm start` and its local models.
//   node deploy/local/seed/templates/record-samples.mjs
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { fetched, keep, runFfmpeg } from "../../../drills/films/files.mjs";
import { readLocal } from "../../../drills/support/platform.mjs";
import { createClient, expectStatus } from "../client.mjs";
import { edge, node } from "../graph.mjs";

const SPOKEN =
  "Welcome to the harbour hour. Today we talk about the lighthouse. It was built in eighteen sixty, and its light is seen for twenty miles. Stay with us.";
const { baseUrl, accounts } = readLocal();
const client = createClient(baseUrl);
const key = accounts.business.apiKey;
const file = (/** @type {string} */ name) => new URL(`samples/${name}`, import.meta.url);

/** @param {string} path @param {object} inputs @param {"audios" | "videos"} member */
const runAndGet = async (path, inputs, member) => {
  const { body } = expectStatus(path, await client("POST", path, { key, body: { inputs } }), 200);
  return fetched(body.result[member][0].url);
};

/** @param {string} name @param {readonly string[]} args */
const encoded = async (name, args) => {
  const { output, stderr } = runFfmpeg([...args, "-map_metadata", "-1", "-f", name.split(".").at(-1) ?? "", "-y", join("/tmp", name)]);
  if (output === null) throw new Error(stderr);
  await writeFile(file(name), await readFile(join("/tmp", name)));
};

const speech = keep("speech.wav", await runAndGet("/api/models/local-speech/run", { prompt: SPOKEN }, "audios"));
await encoded("speech.mp3", ["-i", speech, "-ac", "1", "-ar", "24000", "-c:a", "libmp3lame", "-b:a", "32k"]);

const upload = async (/** @type {string} */ name) =>
  expectStatus(name, await client("POST", "/api/media", { key, bytes: await readFile(file(name)) }), 201).body.id;
const graph = {
  name: "Sample clip",
  nodes: [
    node("first", "media-upload", 0, 0, { mediaId: await upload("beach.jpg") }),
    node("second", "media-upload", 0, 1, { mediaId: await upload("regatta.jpg") }),
    node("show", "media", 1, 0, {
      operation: "video-slideshow",
      seconds: 1.6,
      transition: "fade",
      fadeSeconds: 0.6,
      width: 480,
      height: 270,
    }),
    node("output", "response-output", 2, 0, {}),
  ],
  edges: ["first.media -> show.images", "second.media -> show.images", "show.video -> output.videos"].map(edge),
};
const { slug } = expectStatus("the clip's workflow", await client("POST", "/api/workflows", { key, body: graph }), 201).body;
const clip = keep("clip.mp4", await runAndGet(`/api/workflows/${slug}/run`, {}, "videos"));
await client("DELETE", `/api/workflows/${slug}`, { key });
await encoded("clip.mp4", ["-i", clip, "-an", "-c:v", "libx264", "-crf", "33", "-preset", "veryslow", "-movflags", "+faststart"]);
