import { planPure } from "../plan/pure-plan";
import { longTexts } from "../plan/check-texts";
import { namedPorts } from "../wiring/ports";
import { asText, fill, placed, placeholders } from "../values/value";
import type { NodeKind } from "./kind";

export const textBox: NodeKind = {
  type: "text-box",
  summary: "A text. `{{name}}` makes a port and is replaced by its value.",
  settings: { text: { type: "string", description: "The text, with {{placeholders}}." } },
  calls: null,
  runs: true,
  inputs: ({ data: { text } }) => new Map(namedPorts(typeof text === "string" ? placeholders(text) : [], "any")),
  outputs: () => new Map([["text", "text"]]),
  check: ({ data: { text } }) =>
    text !== undefined && text !== null && typeof text !== "string" ? ["text: must be text"] : longTexts(text, "text"),
  plan: (planner, node) => planPure(planner, textBox, node),
  evaluate: ({ text }, item, budget) => budget.value(fill(asText(text), (name) => placed(item, name), budget)),
  savedValue: ({ data }) => data.text,
};
