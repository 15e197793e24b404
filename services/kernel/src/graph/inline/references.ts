import { isSlug } from "../../limits";
import { kindOf, makesTurns } from "../kinds";
import { namedVersion } from "../kinds/workflow";
import { innerId, type Graph, type GraphNode } from "../types";

import { isBypassed } from "../wiring/bypass";

/** A node's reference to the workflow that it runs. */

export interface WorkflowReference {
  nodeId: string;
  slug: string;
  /** A version number, `draft`, or an empty text for the latest version. */
  version: string;
  /** Set for a loop, whose inner nodes have ids such as `loop/1/node`. */
  isLoop?: true;
}

/** @returns undefined for other kinds, invalid nodes and bypassed nodes */
export const referenceOf = (node: GraphNode): WorkflowReference | undefined => {
  const { slug } = node.data;
  const kind = kindOf(node.type);
  if (!kind?.isReplaced || node.turn || isBypassed(node) || typeof slug !== "string" || !isSlug(slug)) return undefined;
  const version = namedVersion(node.data.version);
  return version === undefined ? undefined : { nodeId: node.id, slug, version, ...(makesTurns(node.type) ? { isLoop: true } : {}) };
};

export const workflowReferences = ({ nodes }: Graph): WorkflowReference[] => nodes.flatMap((node) => referenceOf(node) ?? []);

/** Returns the id of the outer graph's node that contains `outer/inner`, or the id itself if the graph has such a node. */
export const outerNodeOf = ({ nodes }: Graph, id: string): string => {
  if (nodes.some((node) => node.id === id)) return id;
  return nodes.find((node) => referenceOf(node) && id.startsWith(innerId(node.id, "")))?.id ?? id;
};
