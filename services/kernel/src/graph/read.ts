import { invalidRequest, type Issue } from "../errors";
import { wellFormed } from "../text/well-formed";
import { parseExact } from "../text/json-text";
import { LIMITS, ONE_LINE, ONE_LINE_FORM } from "../limits";
import { GRAPH_BOUNDS, textBytes } from "./bounds";
import { findingInWords, type GraphIssue } from "../issues";
import { isRecord, type Graph, type GraphEdge, type GraphNode } from "./types";

const parseArray = (json: string, path: string, limit: number): unknown[] => {
  const problems: Issue[] = [];
  let parsed: unknown;
  try {
    parsed = parseExact(json);
  } catch {
    problems.push({ path, message: "is not valid JSON" });
  }
  if (problems.length === 0 && !Array.isArray(parsed)) problems.push({ path, message: "must be an array" });
  if (Array.isArray(parsed) && parsed.length > limit)
    problems.push({ path, message: `has ${parsed.length} elements, at most ${limit} are allowed` });
  if (problems.length > 0) throw invalidRequest(problems);
  return parsed as unknown[];
};

const graphIssue = (message: string, nodeId: string | null = null): GraphIssue => ({ nodeId, ...findingInWords("GRAPH_INVALID", message) });

const handle = (value: unknown): string | null => (typeof value === "string" && value !== "" ? value : null);

/**
 * Reads a saved graph leniently. Elements that aren't nodes or edges are skipped and reported in `issues` when a run is planned.
 * @throws DomainError INVALID_REQUEST if a text isn't a JSON array or has too many elements
 */
export const readGraph = (nodesJson: string, edgesJson: string): Graph & { issues: GraphIssue[] } => {
  const issues: GraphIssue[] = [];
  const nodes: GraphNode[] = [];
  const edges: GraphEdge[] = [];
  const seenIds = new Set<string>();
  for (const [index, node] of parseArray(nodesJson, "nodes", LIMITS.nodes).entries()) {
    if (!isRecord(node) || typeof node.id !== "string" || node.id === "" || typeof node.type !== "string") {
      issues.push(graphIssue(`nodes[${index}] needs a text id and a text type`));
      continue;
    }
    if (seenIds.has(node.id)) issues.push(graphIssue("another node has the same id", node.id));
    seenIds.add(node.id);
    if (textBytes(node.id) > GRAPH_BOUNDS.nodeIdBytes) {
      issues.push(graphIssue(`the id of nodes[${index}] is longer than ${GRAPH_BOUNDS.nodeIdBytes} bytes`));
      continue;
    }
    if (!ONE_LINE.test(node.id)) {
      issues.push(graphIssue(`the id of nodes[${index}] ${ONE_LINE_FORM}`));
      continue;
    }
    if (wellFormed(node.id) !== node.id) {
      issues.push(graphIssue(`the id of nodes[${index}] can't be written in UTF-8`));
      continue;
    }
    nodes.push({ id: node.id, type: node.type, data: isRecord(node.data) ? node.data : {} });
  }
  for (const [index, edge] of parseArray(edgesJson, "edges", LIMITS.edges).entries()) {
    if (!isRecord(edge) || typeof edge.source !== "string" || typeof edge.target !== "string") {
      issues.push(graphIssue(`edges[${index}] needs a source and a target`));
      continue;
    }
    edges.push({
      id: typeof edge.id === "string" && edge.id !== "" ? edge.id : String(index),
      source: edge.source,
      target: edge.target,
      sourceHandle: handle(edge.sourceHandle),
      targetHandle: handle(edge.targetHandle),
    });
  }
  return { nodes, edges, issues };
};
