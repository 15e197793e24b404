import { edgesText, nodesText, readDocGraph, nodesOf, edgesOf, type DocEdge, type DocNode } from "./graph";
import { members } from "@nodeloom/kernel/json-text";

/** Parts of graphs on the clipboard as readable JSON text. */
const FORMAT = "nodeloom/nodes";
const MOST_NODES = 500;
const MOST_CHARACTERS = 8_000_000;

export interface Part {
  nodes: readonly DocNode[];
  edges: readonly DocEdge[];
}

export const partText = ({ nodes, edges }: Part): string =>
  `{"format":${JSON.stringify(FORMAT)},"nodes":${nodesText({ nodes, edges: [] })},"edges":${edgesText({ nodes: [], edges })}}`;

/** Parses JSON; undefined for other text. */
export const parsedJson = (text: string): unknown => {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return undefined;
  }
};

/** Reads nodes from clipboard text, either copied parts or exported workflows, or returns the problem. */
export const readPart = (text: string): Part | { problem: string } => {
  if (text.trim() === "") return { problem: "The clipboard is empty." };
  if (text.length > MOST_CHARACTERS) return { problem: "What is on the clipboard is larger than a workflow may be (8 MB)." };
  const value = parsedJson(text);
  if (value === undefined)
    return { problem: "The clipboard holds text that is no JSON. Copy nodes from a workflow, or an exported workflow." };
  const texts = members(text);
  const [nodes, edges] = [texts.get("nodes"), texts.get("edges") ?? "[]"];
  if (nodes === undefined || !nodes.startsWith("[") || !edges.startsWith("["))
    return { problem: "The clipboard holds JSON without a list of nodes. Copy nodes from a workflow, or an exported workflow." };
  const graph = readDocGraph(nodes, edges);
  const [shown, links] = [nodesOf(graph), edgesOf(graph)];
  if (shown.length === 0) return { problem: "The clipboard's list of nodes has no node with an id and a type." };
  if (shown.length > MOST_NODES) return { problem: `The clipboard holds ${shown.length} nodes; a workflow has at most ${MOST_NODES}.` };
  return { nodes: shown, edges: links };
};
