import { joined } from "../plan/abstract";
import { GRAPH_BOUNDS, valueBytes } from "../bounds";
import { BindError, elementsOfWork } from "../budget";
import { longTexts } from "../plan/check-texts";
import { abstractSources } from "../plan/planner";
import { planPure } from "../plan/pure-plan";
import { concatenated } from "../values/value";
import type { NodeKind } from "./kind";

const elements = (items: unknown): unknown[] => (Array.isArray(items) ? (items as unknown[]) : []);

const bounded = (items: unknown[]): unknown[] => {
  if (items.length > GRAPH_BOUNDS.listItems)
    throw new BindError(`it has ${items.length} items, at most ${GRAPH_BOUNDS.listItems} are allowed`);
  if (valueBytes(items, GRAPH_BOUNDS.listBytes) > GRAPH_BOUNDS.listBytes)
    throw new BindError(`its items are larger than ${GRAPH_BOUNDS.listBytes} bytes`);
  return items;
};

export const list: NodeKind = {
  type: "list",
  summary: "A list: its own items, then those of connected nodes. The next node runs once for each item.",
  settings: { items: { type: "array", description: "The list's own items, before the connected ones." } },
  calls: null,
  runs: true,
  inputs: () => new Map([["items", { type: "any", list: true }]]),
  outputs: () => new Map([["items", "any"]]),
  defaultInput: () => "items",
  check: ({ data: { items } }) =>
    items !== undefined && items !== null && !Array.isArray(items) ? ["items: must be a list"] : longTexts(items, "items"),
  plan: (planner, node) =>
    planPure(planner, list, node, ({ tokens }) => {
      const own = elements(node.data.items).length;
      const flowing = joined(abstractSources(planner, node, "items"));
      return { list: true, items: own + flowing.items, most: own + flowing.most, tokens };
    }),
  evaluate: ({ items: own }, item, budget) => {
    const items = bounded(Object.hasOwn(item, "items") ? [...elements(own), ...concatenated([item.items])] : elements(own));
    budget.work(elementsOfWork(items.length));
    return budget.value(items);
  },
  savedCount: ({ data }, flowing) => elements(data.items).length + flowing,
};
