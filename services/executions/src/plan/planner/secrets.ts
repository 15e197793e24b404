import { finding, isBypassed, kindOf, secretsOfNode, type Graph, type GraphIssue } from "@nodeloom/kernel";
import type { InnerTask } from "./protocol";

/** Secrets are the runner's: a graph of somebody else's may name none of them, and neither may what stands in it. */

/** Nodes that name secrets, each an issue. Names are left out: they are the author's. */
export const foreignSecretIssues = ({ nodes }: Graph): GraphIssue[] =>
  nodes
    .filter((node) => kindOf(node.type)?.calls === "http" && !isBypassed(node) && secretsOfNode(node.data).length > 0)
    .map(({ id }) => ({ nodeId: id, ...finding("SECRET_FOREIGN") }));

/** Keys of the workflows inside a runner's own that are somebody else's, or stand in one that is. */
export const foreignKeys = ({ definitions, references }: InnerTask, runnerId: string): ReadonlySet<string> => {
  const keys = new Set(definitions.flatMap(({ key, ownerId }) => (ownerId === runnerId ? [] : [key])));
  let known = -1;
  while (keys.size > known) {
    known = keys.size;
    for (const [within, , key] of references) if (keys.has(within)) keys.add(key);
  }
  return keys;
};
