import { edgesText, nodesText, readDocGraph, nodesOf, edgesOf, type DocEdge, type DocNode } from "./graph";
import { members } from "@nodeloom/kernel/json-text";
import { CLIPBOARD } from "./messages";

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

/** Reads nodes from clipboard text: copied parts or exported workflows. Returns a problem for invalid ones. */
export const readPart = (text: string): Part | { problem: string } => {
  if (text.trim() === "") return { problem: CLIPBOARD.theClipboardIsEmpty };
  if (text.length > MOST_CHARACTERS) return { problem: CLIPBOARD.theClipboardContentIsLarger };
  const value = parsedJson(text);
  if (value === undefined) return { problem: CLIPBOARD.theClipboardHasNoValid };
  const texts = members(text);
  const [nodes, edges] = [texts.get("nodes"), texts.get("edges") ?? "[]"];
  if (nodes === undefined || !nodes.startsWith("[") || !edges.startsWith("[")) return { problem: CLIPBOARD.theClipboardHasNoList };
  const graph = readDocGraph(nodes, edges);
  const [shownNodes, links] = [nodesOf(graph), edgesOf(graph)];
  if (shownNodes.length === 0) return { problem: CLIPBOARD.theClipboardHasNoNode };
  if (shownNodes.length > MOST_NODES) return { problem: CLIPBOARD.theClipboardHasNodesA(shownNodes.length, MOST_NODES) };
  return { nodes: shownNodes, edges: links };
};
