import { LIMITS } from "../limits";
import { GRAPH_BOUNDS, textBytes } from "./bounds";
import { fieldsOf } from "./fields";
import { inputPorts, isFileType, literalInputs } from "./ports";
import type { JsonSchema } from "./price";
import { callsModel, isRecord, shownName, type Graph, type GraphIssue, type GraphNode } from "./types";

const isSet = (value: unknown): boolean => value !== undefined && value !== null;

/** Texts inside a value that are longer than any text may be. */
const longTexts = (value: unknown, path: string): string[] => {
  if (typeof value === "string")
    return textBytes(value) > LIMITS.textValueBytes ? [`${shownName(path)}: is longer than ${LIMITS.textValueBytes} bytes`] : [];
  if (Array.isArray(value)) return value.flatMap((item, index) => longTexts(item, `${path}.${index}`));
  return isRecord(value) ? Object.entries(value).flatMap(([name, item]) => longTexts(item, `${path}.${name}`)) : [];
};

const callProblems = (node: GraphNode, schema: JsonSchema | undefined): string[] => {
  const ports = inputPorts(node, schema);
  const texts = Object.entries(literalInputs(node, schema)).filter(([name]) => !isFileType(ports.get(name)?.type));
  return [
    ...(isSet(node.data.inputs) && !isRecord(node.data.inputs) ? ["inputs: must be an object"] : []),
    ...texts.flatMap(([name, value]) => longTexts(value, name)),
  ];
};

/** What is wrong with the settings of a node, whatever flows into it. Those of HTTP requests are judged with their calls. */
const literalProblems = (node: GraphNode, schema: JsonSchema | undefined): string[] => {
  if (callsModel(node.type)) return callProblems(node, schema);
  const { text, items, fields } = node.data;
  switch (node.type) {
    case "request-input":
      return isSet(fields) && !Array.isArray(fields) ? ["fields: must be a list"] : [];
    case "text-box":
      return isSet(text) && typeof text !== "string" ? ["text: must be text"] : longTexts(text, "text");
    case "list":
      return isSet(items) && !Array.isArray(items) ? ["items: must be a list"] : longTexts(items, "items");
    default:
      return [];
  }
};

/** Fields that have the name of an earlier one: which of the two an input would be meant for can't be told. */
const doubleFields = (nodes: readonly GraphNode[]): GraphIssue[] => {
  const seen = new Map<string, string>();
  const issues: GraphIssue[] = [];
  for (const node of nodes.filter(({ type }) => type === "request-input")) {
    for (const { name } of fieldsOf(node.data)) {
      if (issues.length >= GRAPH_BOUNDS.issues) return issues;
      const earlier = seen.get(name);
      if (earlier !== undefined)
        issues.push({
          nodeId: node.id,
          message: `has a second field ${shownName(name)}${earlier === node.id ? "" : `, as ${earlier} has`}`,
        });
      seen.set(name, earlier ?? node.id);
    }
  }
  return issues;
};

/** Everything that is wrong with the settings of a graph's nodes. */
export const checkSettings = ({ nodes }: Graph, schemaOf: (node: GraphNode) => JsonSchema | undefined): GraphIssue[] => [
  ...nodes.flatMap((node) =>
    literalProblems(node, schemaOf(node))
      .slice(0, GRAPH_BOUNDS.issues)
      .map((message) => ({ nodeId: node.id, message })),
  ),
  ...doubleFields(nodes),
];
