import { isRecord, recordsOf, textOf } from "../graph";
import { quoted, type Report } from "../report";
import { expressionOf, portName, type Reference } from "./expressions";
import type { N8nNode } from "./graph";

/** Finds the ports here that hold the values which n8n's nodes name. */

export interface ImportedNode {
  id: string;
  type: string;
  data: Record<string, unknown>;
  x: number;
  y: number;
}
export interface ImportedEdge {
  source: string;
  sourceHandle: string;
  target: string;
  targetHandle: string;
}

export interface N8nImport {
  nodes: readonly N8nNode[];
  byName: ReadonlyMap<string, N8nNode>;
  drafts: Map<string, ImportedNode>;
  edges: ImportedEdge[];
  /** Inputs of the workflow by their name. */
  fields: Map<string, Record<string, unknown>>;
  /** Value that passes each switch, by the switch's name. */
  passed: Map<string, Source>;
  report: Report;
}

/** A port, and the path to a part of its value. */
export interface Source {
  id: string;
  port: string;
  path: readonly string[];
}

export const INPUTS_ID = "n8n-inputs";
const COLUMN = 340;

export const idOf = (task: N8nImport, node: N8nNode): string => `n8n-${task.nodes.indexOf(node) + 1}`;

/** Fields of a Set node in its order, for all of its versions. */
export const assignmentsOf = ({ parameters }: N8nNode): { name: string; value: unknown }[] => {
  const { assignments, values, fields } = parameters;
  const current = isRecord(assignments) ? recordsOf(assignments.assignments) : [];
  const rows = [...current, ...(isRecord(fields) ? recordsOf(fields.values) : [])];
  const oldRows = isRecord(values) ? Object.values(values).flatMap(recordsOf) : [];
  return [...rows, ...oldRows].flatMap(({ name, value, stringValue, numberValue, booleanValue }) => {
    const fieldName = textOf(name);
    return fieldName === undefined ? [] : [{ name: fieldName, value: value ?? stringValue ?? numberValue ?? booleanValue }];
  });
};

export const fieldId = (task: N8nImport, node: N8nNode, index: number): string => `${idOf(task, node)}-${index + 1}`;

const ENVELOPE = new Set(["body", "query", "params", "headers", "output"]);

/** Name of the input that a trigger's member becomes. */
export const inputName = (path: readonly string[]): string | undefined => {
  const own = ENVELOPE.has(path[0] ?? "") && path.length > 1 ? path.slice(1) : path;
  const name = own.findLast((step) => !/^(?:\d+|\*)$/.test(step));
  return name === undefined ? undefined : portName(name).replace(/^in_(?=[A-Za-z])/, "");
};

const triggerSource = (task: N8nImport, path: readonly string[]): Source | undefined => {
  const name = inputName(path);
  if (name === undefined) return undefined;
  if (!task.fields.has(name)) task.fields.set(name, { name, type: "text", label: name });
  return { id: INPUTS_ID, port: name, path: [] };
};

const fieldSource = (task: N8nImport, node: N8nNode, path: readonly string[], visited: ReadonlySet<N8nNode>): Source | undefined => {
  const assignments = assignmentsOf(node);
  const index = path.length === 0 && assignments.length === 1 ? 0 : assignments.findIndex(({ name }) => name === path[0]);
  if (index < 0) return sourceBefore(task, node, path, visited);
  return { id: fieldId(task, node, index), port: "text", path: path.slice(1) };
};

/** Names of the ports of a switch, in n8n's order of its outputs. */
export const branchPorts = (node: N8nNode, cases: number): string[] =>
  node.type === "switch" ? Array.from({ length: cases }, (_, index) => `case_${index + 1}`) : ["true", "else"];

const branchSource = (
  task: N8nImport,
  node: N8nNode,
  path: readonly string[],
  output: number,
  visited: ReadonlySet<N8nNode>,
): Source | undefined => {
  const inner = sourceBefore(task, node, path, visited);
  const draft = task.drafts.get(idOf(task, node));
  if (!inner || !draft) return inner;
  const passed = task.passed.get(node.name);
  if (!passed) {
    task.passed.set(node.name, inner);
    connect(task, inner, draft.id, "value");
  } else if (JSON.stringify(passed) !== JSON.stringify(inner)) return inner;
  const cases = recordsOf(draft.data.cases).length;
  return { id: draft.id, port: branchPorts(node, cases)[output] ?? "else", path: [] };
};

const splitPath = ({ type, parameters: { fieldToSplitOut } }: N8nNode, path: readonly string[]): readonly string[] => {
  const member = type === "splitOut" ? textOf(fieldToSplitOut) : undefined;
  if (member === undefined) return path;
  const field = member.split(".");
  return path[0] === field.at(-1) && path.length === 1 ? field : [...field, "*", ...path];
};

const OUTPUTS = { request: "body", chat: "text", image: "image", speech: "audio" } as const;

/** Port with a value of a node's items; undefined if nothing here has it. */
export const sourceOf = (
  task: N8nImport,
  node: N8nNode,
  path: readonly string[],
  output = 0,
  visited: ReadonlySet<N8nNode> = new Set(),
): Source | undefined => {
  if (visited.has(node)) return undefined;
  const next = new Set(visited).add(node);
  if (node.isDisabled) return sourceBefore(task, node, path, next);
  const { role } = node;
  if (role === "trigger") return triggerSource(task, path);
  if (role === "fields") return fieldSource(task, node, path, next);
  if (role === "branch") return branchSource(task, node, path, output, next);
  if (role === "pass" || role === "reply") return sourceBefore(task, node, splitPath(node, path), next);
  if (role !== "request" && role !== "chat" && role !== "image" && role !== "speech") return undefined;
  return { id: idOf(task, node), port: OUTPUTS[role], path: role === "request" ? path : [] };
};

/** The first node before this one that has the value. */
const sourceBefore = (task: N8nImport, node: N8nNode, path: readonly string[], visited: ReadonlySet<N8nNode>): Source | undefined => {
  if (node.links.length > 1)
    task.report.add(`${quoted(node.name)} joins several nodes, and takes the first one's value. Link the others to the same ports.`);
  for (const { source, output } of node.links) {
    const before = task.byName.get(source);
    const found = before && sourceOf(task, before, path, output, visited);
    if (found) return found;
  }
  return undefined;
};

export const resolve = (task: N8nImport, node: N8nNode, { node: name, path }: Reference): Source | undefined => {
  if (name === undefined) return sourceBefore(task, node, path, new Set([node]));
  const namedNode = task.byName.get(name);
  return namedNode && sourceOf(task, namedNode, path);
};

/** Adds a link. If only a part of the value is wanted, a json node takes it out. */
export const connect = (task: N8nImport, { id, port, path }: Source, target: string, targetHandle: string): void => {
  if (path.length === 0) {
    task.edges.push({ source: id, sourceHandle: port, target, targetHandle });
    return;
  }
  const expression = expressionOf(path);
  const partId = `${id}-${portName(expression)}`;
  const from = task.drafts.get(id);
  if (!task.drafts.has(partId)) {
    const place = { x: (from?.x ?? 0) + COLUMN, y: (from?.y ?? 0) + 1 };
    task.drafts.set(partId, { id: partId, type: "json", data: { expression }, ...place });
    task.edges.push({ source: id, sourceHandle: port, target: partId, targetHandle: "value" });
    task.report.add("If an answer is a list, begin the expressions of the json nodes after it with “[].”.");
  }
  task.edges.push({ source: partId, sourceHandle: "value", target, targetHandle });
};
