import { nodeName } from "@nodeloom/kernel/node-name";
import type { Execution, NodeState } from "@nodeloom/client";

type NodeLabel = Pick<NodeState, "id" | "label">;

/** An error without the node's name, because the page shows the name beside it. */
export const causeAt = (message: string, { id, label }: NodeLabel): string => {
  const name = `node ${nodeName(id, label)}: `;
  return message.startsWith(name) ? message.slice(name.length) : message;
};

/** The error of a run without the name of its node. */
export const causeOf = ({ error, nodes }: { error?: Execution["error"] | null; nodes: readonly NodeLabel[] }): string | undefined => {
  const node = nodes.find(({ id }) => id === error?.nodeId);
  return error && node ? causeAt(error.message, node) : error?.message;
};
