import type { NodeState } from "@nodeloom/client";
import { readDocGraph, nodeById } from "../../src/document/graph";
import { hadSettings, tookOf } from "../../src/runs/took/took";

const graph = readDocGraph(
  JSON.stringify([
    {
      id: "in",
      type: "request-input",
      data: {
        fields: [
          { name: "topic", type: "text" },
          { name: "style", type: "text", default: "ink" },
        ],
      },
    },
    { id: "words", type: "text-box", data: { text: "{{t}}", label: "Words" } },
    { id: "pic", type: "generate-image", data: { model: "m", label: "Picture", comment: "why", inputs: { seed: 3, prompt: "" } } },
  ]),
  JSON.stringify([
    { id: "1", source: "in", sourceHandle: "topic", target: "words", targetHandle: "t" },
    { id: "2", source: "words", sourceHandle: "text", target: "pic", targetHandle: "prompt" },
    { id: "3", source: "in", sourceHandle: "style", target: "pic", targetHandle: "negative" },
    { id: "4", source: "gone", sourceHandle: "image", target: "pic", targetHandle: "image" },
  ]),
);
const state = (id: string, type: string, more: object = {}): [string, NodeState] => [
  id,
  { id, type, status: "completed", startedAt: null, durationMs: null, creditsCost: 0, error: null, ...more } as NodeState,
];
const ran = {
  nodes: new Map([
    state("in", "request-input"),
    state("words", "text-box", { label: "Words", outputs: { text: "a boat" } }),
    state("pic", "generate-image"),
  ]),
  inputs: { topic: "a boat" },
};

it("reads what flowed into a node from what the nodes before it gave, and from the run's inputs and their defaults", () => {
  expect(tookOf(graph, ran, "words")).toEqual([{ port: "t", from: "Inputs", value: "a boat" }]);
  expect(tookOf(graph, ran, "pic")).toEqual([
    { port: "prompt", from: "Words", value: "a boat" },
    { port: "negative", from: "Inputs", value: "ink" },
  ]);
});

it("lists a node's own settings, without those for people", () => {
  expect(hadSettings(nodeById(graph, "pic")!)).toEqual([
    ["model", "m"],
    ["seed", "3"],
  ]);
});
