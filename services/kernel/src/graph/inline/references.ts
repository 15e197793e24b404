import { isSlug } from "../../limits";
import { namedVersion, workflow } from "../kinds/workflow";
import type { Graph, GraphNode } from "../types";
import { isBypassed } from "../wiring/bypass";

/** inline/: workflows that stand in others as nodes, and what becomes of them before a run is planned. */

/** A workflow that a node names. */
export interface WorkflowReference {
  nodeId: string;
  slug: string;
  /** A number, `draft`, or empty. */
  version: string;
}

/** What a node means; undefined for other nodes, and for one that is wrong or switched off. */
export const referenceOf = (node: GraphNode): WorkflowReference | undefined => {
  const { slug } = node.data;
  if (node.type !== workflow.type || isBypassed(node) || typeof slug !== "string" || !isSlug(slug)) return undefined;
  const version = namedVersion(node.data.version);
  return version === undefined ? undefined : { nodeId: node.id, slug, version };
};

export const workflowReferences = ({ nodes }: Graph): WorkflowReference[] => nodes.flatMap((node) => referenceOf(node) ?? []);

const SEPARATOR = "/";

/** The id of a node of a workflow that stands in another. */
export const innerId = (outer: string, inner: string): string => `${outer}${SEPARATOR}${inner}`;

/** The node of a graph that a node is in whose id is `outer/inner`; the id itself where the graph has such a node. */
export const outerNodeOf = ({ nodes }: Graph, id: string): string => {
  if (nodes.some((node) => node.id === id)) return id;
  return nodes.find((node) => referenceOf(node) && id.startsWith(innerId(node.id, "")))?.id ?? id;
};
