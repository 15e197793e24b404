/** Workflows with tests, and edits of them: regressions that the tests must fail, and harmless edits that must pass. */
import { edge, node } from "../support/graph.mjs";

/** @typedef {{ id: string, type: string, position: { x: number, y: number }, data: any }} Node */
/** @typedef {{ id: string, source: string, sourceHandle: string, target: string, targetHandle: string }} Edge */
/** @typedef {{ nodes: Node[], edges: Edge[], tests: unknown[] }} Template */
/** @typedef {{ name: string, edit: (template: Template) => void, isFree?: boolean }} Edit */

const QUICK = { sandbox: { latencyMs: 10 } };

const subject = node("in", "request-input", { fields: [{ name: "subject", type: "text", label: "Subject", default: "" }] });
const INPUTS = { subject: "lighthouse" };

/** A prompt, a picture of it, and a smaller copy. @returns {Template} */
const poster = () => ({
  nodes: [
    subject,
    node("prompt", "text-box", { text: "A poster of a {{subject}} in flat colours" }),
    node("picture", "generate-image", { model: "sandbox-image-fast", inputs: QUICK }),
    node("small", "media", { operation: "image-resize", width: 256, height: 128, fit: "cover" }),
    node("out", "response-output"),
  ],
  edges: [
    edge("in.subject", "prompt.subject"),
    edge("prompt.text", "picture.prompt"),
    edge("picture.image", "small.image"),
    edge("prompt.text", "out.text"),
    edge("picture.image", "out.images"),
    edge("small.image", "out.small"),
  ],
  tests: [
    {
      name: "poster",
      inputs: INPUTS,
      expect: [
        { path: "text", contains: "lighthouse" },
        { path: "images", file: { kind: "image" } },
        { path: "small", file: { kind: "image", width: 256, height: 128 } },
      ],
      maxCredits: 0.6,
    },
  ],
});

/** Two seconds of video. @returns {Template} */
const clip = () => ({
  nodes: [
    subject,
    node("prompt", "text-box", { text: "A {{subject}} in the wind" }),
    node("video", "generate-video", { model: "sandbox-video", inputs: { seconds: 2, ...QUICK } }),
    node("out", "response-output"),
  ],
  edges: [
    edge("in.subject", "prompt.subject"),
    edge("prompt.text", "video.prompt"),
    edge("prompt.text", "out.text"),
    edge("video.video", "out.videos"),
  ],
  tests: [
    {
      name: "clip",
      inputs: INPUTS,
      expect: [
        { path: "text", matches: "lighthouse" },
        { path: "videos", file: { kind: "video", durationMs: { min: 1_500, max: 2_500 } } },
      ],
      maxCredits: 12,
    },
  ],
});

/** Generates an answer by a schema from its inputs. @returns {Template} */
const card = () => ({
  nodes: [
    subject,
    node("prompt", "text-box", { text: "Describe a {{subject}}." }),
    node("write", "llm-assistant", {
      model: "sandbox-chat",
      schema: { type: "object", required: ["title", "lines"], properties: { title: { type: "string" }, lines: { type: "integer" } } },
    }),
    node("out", "response-output"),
  ],
  edges: [
    edge("in.subject", "prompt.subject"),
    edge("prompt.text", "write.prompt"),
    edge("prompt.text", "out.text"),
    edge("write.json", "out.card"),
  ],
  tests: [
    {
      name: "card",
      inputs: INPUTS,
      expect: [
        { path: "text", contains: "lighthouse" },
        { path: "card", schema: { type: "object", required: ["title", "lines"] } },
        { path: "card", jmespath: "type(lines) == 'number'" },
      ],
    },
  ],
});

export const TEMPLATES = { poster, clip, card };

/** @param {Template} template @param {string} id @returns {Node} */
const at = ({ nodes }, id) => {
  const foundNode = nodes.find((one) => one.id === id);
  if (!foundNode) throw new Error(`no node ${id}`);
  return foundNode;
};

/** @param {Template} template @param {string} target */
const withoutEdgeTo = (template, target) => {
  template.edges = template.edges.filter(({ target: node, targetHandle }) => `${node}.${targetHandle}` !== target);
};

/** Removes the placeholder, so that each run has the same prompt. @type {Edit} */
const slip = {
  name: "prompt slip",
  edit: (template) => {
    at(template, "prompt").data.text = "A picture of a subject";
    withoutEdgeTo(template, "prompt.subject");
  },
};

/** @type {Record<keyof typeof TEMPLATES, Edit[]>} */
export const REGRESSIONS = {
  poster: [
    slip,
    { name: "wrong model", edit: (template) => void (at(template, "picture").data.model = "sandbox-image") },
    { name: "aspect", edit: (template) => void Object.assign(at(template, "small").data, { width: 128, height: 256 }) },
    { name: "dropped picture", edit: (template) => withoutEdgeTo(template, "out.images") },
  ],
  clip: [
    slip,
    { name: "wrong model", edit: (template) => void (at(template, "video").data.model = "sandbox-video-pro") },
    { name: "twice the price", edit: (template) => void (at(template, "video").data.inputs.seconds = 4) },
    { name: "half the length", edit: (template) => void (at(template, "video").data.inputs.seconds = 1) },
  ],
  card: [
    slip,
    { name: "dropped answer", edit: (template) => withoutEdgeTo(template, "out.card") },
    { name: "wrong type", edit: (template) => void (at(template, "write").data.schema.properties.lines.type = "string") },
    {
      name: "missing member",
      edit: (template) =>
        void (at(template, "write").data.schema = {
          type: "object",
          required: ["title"],
          properties: { title: { type: "string" } },
          additionalProperties: false,
        }),
    },
  ],
};

/**
 * If `isFree` is true, a rerun after the edit costs nothing.
 * @type {Edit[]}
 */
export const HARMLESS = [
  { name: "moved nodes", edit: ({ nodes }) => nodes.forEach((one, index) => (one.position = { x: index * 311, y: 17 })), isFree: true },
  { name: "reordered nodes", edit: (template) => void template.nodes.reverse(), isFree: true },
  { name: "reordered edges", edit: (template) => void template.edges.reverse(), isFree: true },
  { name: "a note", edit: ({ nodes }) => void nodes.push(node("remark", "note", { text: "Reviewed" })), isFree: true },
  { name: "another output", edit: ({ edges }) => void edges.push(edge("in.subject", "out.subject")), isFree: true },
  { name: "other words", edit: (template) => void (at(template, "prompt").data.text = "A bright scene with a {{subject}} by the sea") },
];
