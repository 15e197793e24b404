import { edge, node } from "../support/graph.mjs";

const input = node("in", "request-input", { fields: [{ name: "prompt", type: "text", label: "Prompt", default: "a loom" }] });
const out = node("out", "response-output");

export const TEXT = {
  name: "Batch text",
  nodes: [input, node("text", "text-box", { text: "Row: {{prompt}}" }), out],
  edges: [edge("in.prompt", "text.prompt"), edge("text.text", "out.text")],
};

/** @param {string} url */
export const http = (url) => ({
  name: "Batch HTTP",
  nodes: [input, node("get", "http-request", { method: "GET", url: `${url}?row={{prompt}}` }), out],
  edges: [edge("in.prompt", "get.prompt"), edge("get.body", "out.body")],
});

export const IMAGE = {
  name: "Batch image",
  nodes: [input, node("image", "generate-image", { model: "sandbox-image-fast" }), out],
  edges: [edge("in.prompt", "image.prompt"), edge("image.image", "out.images")],
};
