import { isSlug } from "../../limits";
import { namedVersion, workflow } from "../kinds/workflow";
import type { Graph, GraphNode } from "../types";
import { isBypassed } from "../wiring/bypass";

/** A node's reference to the workflow that it runs. */

export interface WorkflowReference {
  nodeId: string;
  slug: string;
  /** A version number, `draft`, or an empty text for the latest version. */
  version: string;
}

/** @returns undefined for other kinds, invalid nodes and bypassed nodes */
export const referenceOf = (node: GraphNode): WorkflowReference | undefined => {
  const { slug } = node.data;
  if (node.type !== workflow.type || isBypassed(node) || typeof slug !== "string" || !isSlug(slug)) return undefined;
  const version = namedVersion(node.data.version);
  return version === undefined ? undefined : { nodeId: node.id, slug, version };
};

export const workflowReferences = ({ nodes }: Graph): WorkflowReference[] => nodes.flatMap((node) => referenceOf(node) ?? []);

const SEPARATOR = "/";

/** The id of an inner node in the expanded graph. */
export const innerId = (outer: string, inner: string): string => `${outer}${SEPARATOR}${inner}`;

/** Returns the id of the outer graph's node that contains `outer/inner`, or the id itself if the graph has such a node. */
export const outerNodeOf = ({ nodes }: Graph, id: string): string => {
  if (nodes.some((node) => node.id === id)) return id;
  return nodes.find((node) => referenceOf(node) && id.startsWith(innerId(node.id, "")))?.id ?? id;
};
