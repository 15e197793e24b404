/** Graphs that run during faults. */
import { edge, node } from "../support/graph.mjs";

const input = node("in", "request-input", { fields: [{ name: "prompt", type: "text", label: "Prompt", default: "a loom" }] });
const out = node("out", "response-output");
const seconds = (/** @type {number} */ n) => ({ latencyMs: n * 1_000 });

const clip = {
  name: "Chaos clip",
  nodes: [input, node("v", "generate-video", { model: "sandbox-video", inputs: { seconds: 1, sandbox: seconds(4) } }), out],
  edges: [edge("in.prompt", "v.prompt"), edge("v.video", "out.videos")],
};
const two = {
  name: "Chaos two",
  nodes: [
    input,
    node("i", "generate-image", { model: "sandbox-image", inputs: { sandbox: seconds(1) } }),
    node("m", "generate-audio", { model: "sandbox-music", inputs: { sandbox: seconds(2) } }),
    out,
  ],
  edges: [edge("in.prompt", "i.prompt"), edge("in.prompt", "m.prompt"), edge("i.image", "out.images"), edge("m.audio", "out.audios")],
};
const chat = {
  name: "Chaos chat",
  nodes: [input, node("c", "llm-assistant", { model: "sandbox-chat", maxTokens: 30, sandbox: seconds(1) }), out],
  edges: [edge("in.prompt", "c.prompt"), edge("c.text", "out.text")],
};
const text = {
  name: "Chaos text",
  nodes: [input, node("t", "text-box", { text: "Hi {{x}}" }), out],
  edges: [edge("in.prompt", "t.x"), edge("t.text", "out.text")],
};
const endless = {
  name: "Chaos cancel",
  nodes: [input, node("v", "generate-video", { model: "sandbox-video", inputs: { seconds: 1, sandbox: seconds(60) } }), out],
  edges: [edge("in.prompt", "v.prompt")],
};
const approved = {
  name: "Chaos approval",
  nodes: [
    input,
    node("c", "llm-assistant", { model: "sandbox-chat", maxTokens: 30 }),
    node("ask", "approval", { title: "Paint it?", timeoutHours: 1, onTimeout: "reject" }),
    node("i", "generate-image", { model: "sandbox-image", inputs: { sandbox: seconds(1) } }),
    out,
  ],
  edges: [edge("in.prompt", "c.prompt"), edge("c.text", "ask.value"), edge("ask.approved", "i.prompt"), edge("i.image", "out.images")],
};
/** Runs in a batch, and again in reruns that end differently. */
export const STORY = {
  name: "Chaos story",
  nodes: [
    input,
    node("i", "generate-image", { model: "sandbox-image", inputs: { prompt: "a loom", sandbox: seconds(1) } }),
    node("c", "llm-assistant", { model: "sandbox-chat", maxTokens: 30 }),
    out,
  ],
  edges: [edge("in.prompt", "c.prompt"), edge("i.image", "out.images"), edge("c.text", "out.text")],
};

/**
 * Kinds of runs in turn; `then` is an action after a run is accepted.
 * @type {readonly { graph: { name: string }, isAsync: boolean, then?: "cancel" | "approve" | "rerun" }[]}
 */
export const KINDS = [
  { graph: clip, isAsync: true },
  { graph: two, isAsync: true },
  { graph: chat, isAsync: false },
  { graph: text, isAsync: false },
  { graph: endless, isAsync: true, then: "cancel" },
  { graph: approved, isAsync: true, then: "approve" },
  { graph: STORY, isAsync: false, then: "rerun" },
];
