import type { JsonSchema } from "../prices/price";
import type { GraphNode } from "../types";

/** The setting `onItemError`: fail the node or skip the item if an item fails. */

const [FAIL, SKIP] = ["fail", "skip"] as const;

export const ON_ITEM_ERROR: JsonSchema = {
  type: "string",
  enum: [FAIL, SKIP],
  description: "Effect of an item whose call fails: `fail` ends the node, `skip` leaves the item out. If every item fails, the node fails.",
};

export const itemErrorProblems = ({ data: { onItemError } }: GraphNode): string[] =>
  onItemError === undefined || onItemError === null || onItemError === FAIL || onItemError === SKIP
    ? []
    : [`onItemError: must be ${FAIL} or ${SKIP}`];

export const skipsFailed = ({ data }: GraphNode): { skipsFailed?: true } => (data.onItemError === SKIP ? { skipsFailed: true } : {});
