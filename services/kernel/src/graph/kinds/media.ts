import { GRAPH_BOUNDS } from "../bounds";
import { didYouMean } from "../../text/nearest-name";
import { URL_TOKENS, type Bounds } from "../plan/abstract";
import { longTexts } from "../plan/check-texts";
import { planCalls } from "../plan/call-plan";
import { ON_ITEM_ERROR } from "../plan/item-errors";
import type { ModelTerms } from "../plan/planner";
import { mayCarry, NOTHING_PLANNED } from "../plan/plan-types";
import { MEDIA_OPERATIONS, mediaOperation, missingGroups, operationIssues, type MediaOperation } from "../operations";
import { findingInWords } from "../../issues";
import { isFileType, literalInputs, namedPorts, schemaPorts, type InputPort } from "../wiring/ports";
import type { GraphNode } from "../types";
import { shownName } from "../../text/shown-name";
import { member, placeholdersIn } from "../values/value";
import type { NodeKind } from "./kind";

const NAMES = MEDIA_OPERATIONS.map(({ name }) => name);

const operationOf = ({ data }: GraphNode): MediaOperation | undefined => mediaOperation(data.operation);

const operationProblem = ({ data: { operation } }: GraphNode): string[] => {
  if (mediaOperation(operation)) return [];
  if (typeof operation !== "string" || operation === "") return [`needs an operation: one of ${NAMES.join(", ")}`];
  return [`operation: there is no ${shownName(operation)}${didYouMean(operation, NAMES)}`];
};

const portsOf = (node: GraphNode): Map<string, InputPort> => {
  const operation = operationOf(node);
  if (!operation) return new Map();
  const declared = schemaPorts(operation.schema);
  const texts = declared.filter(([, { type }]) => type === "text").map(([name]) => literalInputs(node, operation.schema)[name]);
  return new Map([...namedPorts(placeholdersIn(texts), "any"), ...declared]);
};

const termsOf = (operation: MediaOperation): ModelTerms => ({
  internalName: operation.name,
  modality: operation.output,
  providerKind: "transform",
  price: operation.price,
  inputSchema: operation.schema,
  validate: (inputs) => operationIssues(operation, inputs),
});

export const media: NodeKind = {
  type: "media",
  summary: "Edits files: resizes, joins, cuts, mixes and captions images, videos and sounds, and makes masks.",
  settings: {
    operation: { type: "string", enum: NAMES, description: "The operation. Each has its own settings and ports." },
    inputs: { type: "object", description: "Settings of the operation, besides those in data. Connected ports win." },
    maxItems: {
      type: "integer",
      minimum: 1,
      maximum: GRAPH_BOUNDS.listItems,
      description: "The most items of a list; 50 if absent.",
    },
    onItemError: ON_ITEM_ERROR,
  },
  operations: MEDIA_OPERATIONS,
  calls: "transform",
  runs: true,
  schema: (node) => operationOf(node)?.schema,
  inputs: portsOf,
  outputs: (node) => {
    const output = operationOf(node)?.output;
    return output === undefined ? new Map() : new Map([[output, output]]);
  },
  optionalOutputs: (["image", "mask", "video", "audio"] as const).map((name) => ({ name, type: name, setting: "operation" })),
  defaultInput: (outputName, node) => {
    const files = [...portsOf(node)].filter(([, { type }]) => isFileType(type));
    return (files.find(([, { type }]) => type === outputName) ?? files[0])?.[0] ?? outputName;
  },
  check: (node) => {
    const operation = operationOf(node);
    if (!operation) return operationProblem(node);
    const ports = portsOf(node);
    const texts = Object.entries(literalInputs(node, operation.schema)).filter(([name]) => !isFileType(ports.get(name)?.type));
    return texts.flatMap(([name, value]) => longTexts(value, name));
  },
  plan: (planner, node) => {
    const operation = operationOf(node);
    if (!operation) return NOTHING_PLANNED;
    const planned = planCalls(planner, media, node, { terms: termsOf(operation) });
    if (!planned) return NOTHING_PLANNED;
    const { model: _, ...step } = planned.step;
    const isGiven = (name: string): boolean => Object.hasOwn(step.literals, name) || mayCarry(member(step.sources, name));
    for (const message of missingGroups(operation, isGiven))
      planner.issues.push({ nodeId: node.id, ...findingInWords("INPUT_INVALID", message) });
    const { items, limit, mapped } = planned.bounds;
    const bounds: Bounds = { list: mapped, items, most: limit, tokens: URL_TOKENS * limit };
    return { step: { ...step, operation: operation.name }, outputs: new Map([[operation.output, bounds]]) };
  },
  savedCount: (node, _flowing, items) => ([...portsOf(node).values()].some(({ list, type }) => list && isFileType(type)) ? 1 : items),
};
