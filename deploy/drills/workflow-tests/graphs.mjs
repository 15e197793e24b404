/** Workflows with tests. */
import { edge, node } from "../support/graph.mjs";

/** @typedef {{ id: string, type: string, position: { x: number, y: number }, data: any }} Node */
/** @typedef {{ id: string, source: string, sourceHandle: string, target: string, targetHandle: string }} Edge */
/** @typedef {{ nodes: Node[], edges: Edge[], tests: unknown[] }} Template */

const QUICK = { sandbox: { latencyMs: 10 } };
const MAX_MS = 6_000;
const INPUTS = { subject: "lighthouse" };

const subject = node("in", "request-input", { fields: [{ name: "subject", type: "text", label: "Subject", default: "" }] });

/** A text with the subject, which is also a result. @param {string} text */
const prompted = (text) => ({
  nodes: [subject, node("prompt", "text-box", { text }), node("out", "response-output")],
  edges: [edge("in.subject", "prompt.subject"), edge("prompt.text", "out.text")],
});

/** @param {string} name @param {object[]} expect @param {number} maxCredits */
const test = (name, expect, maxCredits) => ({ name, inputs: INPUTS, expect, maxCredits, maxMs: MAX_MS });

/** @param {{ nodes: Node[], edges: Edge[] }} prompt @param {Node[]} nodes @param {Edge[]} edges @param {unknown} theTest @returns {Template} */
const template = (prompt, nodes, edges, theTest) => ({
  nodes: [...prompt.nodes, ...nodes],
  edges: [...prompt.edges, ...edges],
  tests: [theTest],
});

const withSubject = { path: "text", contains: "lighthouse" };

/** A picture of a prompt, and a smaller copy. */
const poster = () =>
  template(
    prompted("A poster of a {{subject}} in flat colours"),
    [
      node("make", "generate-image", { model: "sandbox-image-fast", inputs: QUICK }),
      node("small", "media", { operation: "image-resize", width: 256, height: 128, fit: "cover" }),
    ],
    [
      edge("prompt.text", "make.prompt"),
      edge("make.image", "small.image"),
      edge("make.image", "out.images"),
      edge("small.image", "out.small"),
    ],
    test(
      "poster",
      [withSubject, { path: "images", file: { kind: "image" } }, { path: "small", file: { kind: "image", width: 256, height: 128 } }],
      0.6,
    ),
  );

/** A picture with a line of text, which stays close to a golden file. @param {string} golden id of a file */
const banner = (golden) =>
  template(
    prompted("A banner for a {{subject}}"),
    [
      node("make", "generate-image", { model: "sandbox-image-fast", inputs: { prompt: "a calm sea", ...QUICK } }),
      node("sign", "media", { operation: "image-text", text: "SUMMER SALE", size: 0.12 }),
    ],
    [edge("make.image", "sign.image"), edge("sign.image", "out.banner")],
    test(
      "banner",
      [
        withSubject,
        {
          path: "banner",
          file: {
            kind: "image",
            ...(golden === "" ? {} : { similarTo: { file: golden, atLeast: 0.97 } }),
            text: { contains: "summer sale" },
          },
        },
      ],
      0.6,
    ),
  );

/** Two seconds of video. */
const clip = () =>
  template(
    prompted("A {{subject}} in the wind"),
    [node("make", "generate-video", { model: "sandbox-video", inputs: { seconds: 2, ...QUICK } })],
    [edge("prompt.text", "make.prompt"), edge("make.video", "out.videos")],
    test("clip", [withSubject, { path: "videos", file: { kind: "video", durationMs: { min: 1_500, max: 2_500 } } }], 12),
  );

/** A video with music. */
const film = () =>
  template(
    prompted("A film about a {{subject}}"),
    [
      node("make", "generate-video", { model: "sandbox-video", inputs: { seconds: 2, ...QUICK } }),
      node("music", "generate-audio", { model: "sandbox-music", inputs: { prompt: "waves", seconds: 2, ...QUICK } }),
      node("mux", "media", { operation: "video-mux" }),
    ],
    [edge("prompt.text", "make.prompt"), edge("make.video", "mux.video"), edge("music.audio", "mux.audio"), edge("mux.video", "out.film")],
    test(
      "film",
      [withSubject, { path: "film", file: { kind: "video", durationMs: { min: 1_500, max: 2_500 }, loudness: { min: -30, max: -10 } } }],
      20,
    ),
  );

/** An answer by a schema. */
const card = () =>
  template(
    prompted("Describe a {{subject}}."),
    [
      node("make", "llm-assistant", {
        model: "sandbox-chat",
        inputs: QUICK,
        schema: { type: "object", required: ["title", "lines"], properties: { title: { type: "string" }, lines: { type: "integer" } } },
      }),
    ],
    [edge("prompt.text", "make.prompt"), edge("make.json", "out.card")],
    test(
      "card",
      [
        withSubject,
        { path: "card", schema: { type: "object", required: ["title", "lines"] } },
        { path: "card", jmespath: "type(lines) == 'number'" },
      ],
      1,
    ),
  );

/** A letter, which a judge reads and compares with the first version's. */
const letter = () =>
  template(
    prompted("A letter about a {{subject}}."),
    [node("make", "llm-assistant", { model: "sandbox-chat", inputs: QUICK })],
    [edge("prompt.text", "make.prompt"), edge("make.text", "out.letter")],
    test(
      "letter",
      [
        { path: "letter", judge: { model: "sandbox-chat", rubric: 'It mentions the "lighthouse".', atLeast: 4 } },
        { path: "letter", judge: { model: "sandbox-chat", against: { version: 1 }, atLeast: 0.5 } },
      ],
      1,
    ),
  );

export const TEMPLATES = { poster, banner, clip, film, card, letter };
