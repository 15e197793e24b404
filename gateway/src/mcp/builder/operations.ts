import { GRAPH_BOUNDS, LIMITS } from "@nodeloom/kernel";
import type { Operation } from "@nodeloom/kernel/graph-patch";
import { z } from "zod";
import { anyObject } from "../../http/schemas";

/** Operations on the graph of a draft, as agents send them. */

export const MOST_OPERATIONS = 100;
/** Members of `data` that one operation can set or remove. */
const MOST_MEMBERS = 200;
const MAX_LABEL_CHARS = 80;

const nodeId = z.string().min(1).max(GRAPH_BOUNDS.nodeIdBytes);
const id = nodeId.meta({ description: "Id of the node" });
const port = z.string().min(1).max(LIMITS.searchChars);
const position = z.strictObject({ x: z.number(), y: z.number() });
const data = anyObject.refine(
  (given) => Object.keys(given).length <= MOST_MEMBERS,
  `can have at most ${MOST_MEMBERS} members per operation: use several operations`,
);

const end = {
  source: nodeId.meta({ description: "Id of the node that gives the value" }),
  sourceHandle: port.optional().meta({ description: "Output port. Default: its first" }),
  target: nodeId.meta({ description: "Id of the node that takes the value" }),
  targetHandle: port.optional().meta({ description: "Input port. Default: the first that fits" }),
};

export const operation = z.discriminatedUnion("op", [
  z.strictObject({
    op: z.literal("add_node"),
    id: nodeId.meta({ description: "Your own id for the new node, such as `picture`" }),
    type: z.string().min(1).max(LIMITS.searchChars).meta({ description: "Its kind, from `list_node_kinds`" }),
    data: data.optional().meta({ description: "Its settings" }),
    position: position.optional().meta({ description: "Default: to the right of the other nodes" }),
  }),
  z.strictObject({ op: z.literal("remove_node"), id }).meta({ description: "Also removes its connections" }),
  z.strictObject({
    op: z.literal("set_data"),
    id,
    data: data.optional().meta({ description: "Settings to set. Other settings are kept" }),
    remove: z.array(z.string().max(LIMITS.searchChars)).max(MOST_MEMBERS).optional().meta({ description: "Names of settings to remove" }),
  }),
  z.strictObject({ op: z.literal("connect"), ...end }),
  z
    .strictObject({ op: z.literal("disconnect"), ...end, source: end.source.optional(), target: end.target.optional() })
    .meta({ description: "Removes every connection that matches. Needs `source` or `target`" }),
  z.strictObject({
    op: z.literal("rename"),
    id,
    label: z.string().max(MAX_LABEL_CHARS).meta({ description: "Name that people see. Empty: the kind's name. The id stays" }),
  }),
  z.strictObject({ op: z.literal("move"), id, position }),
]);

export const operations = z
  .array(operation satisfies z.ZodType<Operation>)
  .min(1)
  .max(MOST_OPERATIONS);
