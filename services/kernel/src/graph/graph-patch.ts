import { invalidRequest } from "../errors";
import { isRecord } from "./types";
import { shownName } from "../text/shown-name";
import { elements, members } from "../text/json-text";
import { didYouMean } from "../text/nearest-name";

/** Applies operations to a graph as JSON text. Members that no operation sets stay as they were sent. */

export interface GraphTexts {
  nodesJson: string;
  edgesJson: string;
}

interface Ends {
  source: string;
  sourceHandle?: string | undefined;
  target: string;
  targetHandle?: string | undefined;
}

/** One change of a graph, as agents send it. */
export type Operation =
  | { op: "add_node"; id: string; type: string; data?: object | undefined; position?: Position | undefined }
  | { op: "remove_node"; id: string }
  | { op: "set_data"; id: string; data?: object | undefined; remove?: readonly string[] | undefined }
  | ({ op: "connect" } & Ends)
  | ({ op: "disconnect" } & Partial<Ends>)
  | { op: "rename"; id: string; label: string }
  | { op: "move"; id: string; position: Position };

type Of<K extends Operation["op"]> = Extract<Operation, { op: K }>;
type Texts = Map<string, string>;

/**
 * An element of the graph. Its members, and those of `data`, are read once, when they change. Elements that aren't nodes or edges have no
 * id.
 */
interface Element {
  text: string;
  id?: string;
  changed?: Texts;
  data?: Texts;
}
interface Edge extends Element {
  source?: string;
  target?: string;
  sourceHandle?: string | undefined;
  targetHandle?: string | undefined;
}

interface Draft {
  nodes: Element[];
  byId: Map<string, Element>;
  edges: Edge[];
  /** Place of the last node that was added without one. */
  lastPlace?: Position;
}

interface Position {
  x: number;
  y: number;
}

/** Horizontal distance at which a new node is placed. */
const COLUMN = 360;
const ENDS = ["source", "sourceHandle", "target", "targetHandle"] as const;
const SHOWN_NODES = 20;

const handleOf = (value: unknown): string | undefined => (typeof value === "string" && value !== "" ? value : undefined);

const objectText = (texts: Texts): string => `{${[...texts].map(([name, value]) => `${JSON.stringify(name)}:${value}`).join(",")}}`;

const textOf = ({ text, changed, data }: Element): string => {
  if (!changed) return text;
  return objectText(data ? new Map(changed).set("data", objectText(data)) : changed);
};

const arrayText = (items: readonly Element[]): string => `[${items.map(textOf).join(",")}]`;

const membersOf = (element: Element): Texts => (element.changed ??= members(element.text));

const readNode = (text: string): Element => {
  const id = members(text).get("id");
  const value: unknown = id === undefined ? undefined : JSON.parse(id);
  return typeof value === "string" && value !== "" ? { text, id: value } : { text };
};

const readEdge = (text: string): Edge => {
  const value: unknown = JSON.parse(text);
  if (!isRecord(value) || typeof value.source !== "string" || typeof value.target !== "string") return { text };
  const { source, target, id } = value;
  return {
    text,
    ...(typeof id === "string" ? { id } : {}),
    source,
    target,
    sourceHandle: handleOf(value.sourceHandle),
    targetHandle: handleOf(value.targetHandle),
  };
};

const readDraft = ({ nodesJson, edgesJson }: GraphTexts): Draft => {
  const nodes = elements(nodesJson).map(readNode);
  return {
    nodes,
    byId: new Map(nodes.flatMap((node) => (node.id === undefined ? [] : [[node.id, node] as const]))),
    edges: elements(edgesJson).map(readEdge),
  };
};

/** @throws DomainError INVALID_REQUEST with the nodes that exist */
const nodeOf = ({ byId }: Draft, id: string, path: string): Element => {
  const node = byId.get(id);
  if (node) return node;
  const names = [...byId.keys()];
  const nodeNames = names.slice(0, SHOWN_NODES).map(shownName).join(", ");
  const choices = names.length === 0 ? "the draft has no nodes" : `it has ${nodeNames}${names.length > SHOWN_NODES ? ", …" : ""}`;
  throw invalidRequest([{ path, message: `there is no node ${shownName(id)}${didYouMean(id, names) || `: ${choices}`}` }]);
};

const numberIn = (value: unknown): number => (typeof value === "number" && Number.isFinite(value) ? value : 0);

const positionOf = (node: Element): Position | undefined => {
  const text = (node.changed ?? members(node.text)).get("position");
  const value: unknown = text === undefined ? undefined : JSON.parse(text);
  return isRecord(value) ? { x: numberIn(value.x), y: numberIn(value.y) } : undefined;
};

/** A place to the right of all nodes. */
const nextPosition = (draft: Draft): Position => {
  const places = draft.lastPlace ? [draft.lastPlace] : draft.nodes.flatMap((node) => positionOf(node) ?? []);
  const last = places.reduce((right, place) => (place.x > right.x ? place : right), { x: -COLUMN, y: 0 });
  return (draft.lastPlace = { x: last.x + COLUMN, y: last.y });
};

/** @param dataText the settings as sent */
const addNode = (draft: Draft, { id, type, position }: Of<"add_node">, dataText: string, path: string): void => {
  if (draft.byId.has(id))
    throw invalidRequest([{ path: `${path}.id`, message: `the draft has a node ${shownName(id)}: choose another id, or use set_data` }]);
  const texts: Texts = new Map([
    ["id", JSON.stringify(id)],
    ["type", JSON.stringify(type)],
    ["position", JSON.stringify(position ?? nextPosition(draft))],
    ["data", dataText],
  ]);
  const node: Element = { text: "", id, changed: texts };
  draft.nodes.push(node);
  draft.byId.set(id, node);
};

const removeNode = (draft: Draft, id: string): void => {
  draft.nodes = draft.nodes.filter((node) => node.id !== id);
  draft.byId.delete(id);
  draft.edges = draft.edges.filter(({ source, target }) => source !== id && target !== id);
};

const setData = (node: Element, given: Texts, removed: readonly string[]): void => {
  const data = (node.data ??= members(membersOf(node).get("data") ?? "{}"));
  for (const name of removed) data.delete(name);
  for (const [name, value] of given) data.set(name, value);
};

const connect = (draft: Draft, { source, sourceHandle, target, targetHandle }: Of<"connect">): void => {
  const isSame = (edge: Edge): boolean =>
    edge.source === source && edge.target === target && edge.sourceHandle === sourceHandle && edge.targetHandle === targetHandle;
  if (draft.edges.some(isSame)) return;
  const name = `${source}${sourceHandle === undefined ? "" : `.${sourceHandle}`}-${target}${targetHandle === undefined ? "" : `.${targetHandle}`}`;
  const ids = new Set(draft.edges.map(({ id }) => id));
  let id = name;
  for (let number = 2; ids.has(id); number += 1) id = `${name}-${number}`;
  const edge = { id, source, sourceHandle, target, targetHandle };
  draft.edges.push({ ...edge, text: JSON.stringify(edge) });
};

const disconnect = (draft: Draft, named: Of<"disconnect">, path: string): void => {
  if (named.source === undefined && named.target === undefined)
    throw invalidRequest([{ path: `${path}.source`, message: "or `target` is required" }]);
  const isNamed = (edge: Edge): boolean =>
    edge.source !== undefined && ENDS.every((end) => named[end] === undefined || edge[end] === named[end]);
  const otherEdges = draft.edges.filter((edge) => !isNamed(edge));
  if (otherEdges.length === draft.edges.length)
    throw invalidRequest([{ path, message: "no connection matches: read the draft with `get_workflow`" }]);
  draft.edges = otherEdges;
};

/** @param sent the operation as it was sent */
const apply = (draft: Draft, operation: Operation, sent: Texts, path: string): void => {
  const dataText = sent.get("data") ?? "{}";
  switch (operation.op) {
    case "add_node":
      return addNode(draft, operation, dataText, path);
    case "remove_node":
      nodeOf(draft, operation.id, `${path}.id`);
      return removeNode(draft, operation.id);
    case "set_data":
      return setData(nodeOf(draft, operation.id, `${path}.id`), members(dataText), operation.remove ?? []);
    case "rename": {
      const node = nodeOf(draft, operation.id, `${path}.id`);
      if (operation.label === "") return setData(node, new Map(), ["label"]);
      return setData(node, new Map([["label", JSON.stringify(operation.label)]]), []);
    }
    case "move":
      membersOf(nodeOf(draft, operation.id, `${path}.id`)).set("position", JSON.stringify(operation.position));
      return;
    case "connect":
      nodeOf(draft, operation.source, `${path}.source`);
      nodeOf(draft, operation.target, `${path}.target`);
      return connect(draft, operation);
    case "disconnect":
      return disconnect(draft, operation, path);
  }
};

/**
 * Applies all operations, in order.
 * @param sent the operations' JSON texts
 * @throws DomainError INVALID_REQUEST that names the operation; then none is applied
 */
export const patchGraph = (graph: GraphTexts, operations: readonly Operation[], sent: readonly string[]): GraphTexts => {
  const draft = readDraft(graph);
  for (const [index, operation] of operations.entries()) apply(draft, operation, members(sent[index] ?? "{}"), `operations.${index}`);
  return { nodesJson: arrayText(draft.nodes), edgesJson: arrayText(draft.edges) };
};
