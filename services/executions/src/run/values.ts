import { dependencies, type RunPlan } from "@nodeloom/kernel/graph";

/** The values of a run's nodes, kept for as long as something has yet to read them. */

/** How many steps, and the result, have yet to read what each node gave. */
const readersOf = ({ steps, output }: RunPlan): Map<string, number> => {
  const readers = new Map<string, number>();
  const count = (ids: Iterable<string>): void => {
    for (const id of ids) readers.set(id, (readers.get(id) ?? 0) + 1);
  };
  for (const step of steps) count(dependencies(step));
  count(dependencies({ sources: output }));
  return readers;
};

/** What the nodes of a run gave, by port, as long as something has yet to read it. */
export const createValues = (plan: RunPlan) => {
  const values = new Map<string, Map<string, unknown>>();
  const readers = readersOf(plan);
  return {
    get: (nodeId: string, port: string): unknown => values.get(nodeId)?.get(port),
    keep: (nodeId: string, port: string, value: unknown): void => {
      if (readers.has(nodeId)) values.set(nodeId, (values.get(nodeId) ?? new Map<string, unknown>()).set(port, value));
    },
    /** One of a node's readers is done. */
    release: (nodeId: string): void => {
      const left = readers.get(nodeId)! - 1;
      readers.set(nodeId, left);
      if (left === 0) values.delete(nodeId);
    },
  };
};
