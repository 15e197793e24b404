import type { NodeState } from "@nodeloom/client";
import { mediaOperation } from "@nodeloom/kernel/graph";
import { nodeById, type DocGraph } from "../../document/graph";

/** Names the file operations of a run by what they do, as the canvas does. Other nodes, and those that have a label, stay as they are. */
export const namedNodes = (nodes: readonly NodeState[], graph: DocGraph): NodeState[] =>
  nodes.map((node) => {
    const operation = mediaOperation(nodeById(graph, node.id)?.data.operation);
    return node.label !== undefined || operation === undefined ? node : { ...node, label: operation.title };
  });
