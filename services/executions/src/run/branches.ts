import { makesResult, type PlanStep, type Source } from "@nodeloom/kernel/graph";
import type { NodeStatus } from "./types";

/** Where values of a run flow once its switches have decided. */

type Sources = Readonly<Record<string, readonly Source[]>>;

export const createBranches = (statusOf: (nodeId: string) => NodeStatus) => {
  /** The output ports that carry something, of nodes that have others, too. */
  const open = new Map<string, ReadonlySet<string>>();

  /** Whether something flows from a source, whose node is done. */
  const carries = (source: Source): boolean => {
    if (!("node" in source)) return true;
    return statusOf(source.node) !== "skipped" && (open.get(source.node)?.has(source.port) ?? true);
  };

  /** The sources that carry something; ports without any are left out. */
  const carrying = (sources: Sources): Record<string, Source[]> =>
    Object.fromEntries(
      Object.entries(sources).flatMap(([port, all]) => {
        const some = all.filter(carries);
        return some.length > 0 ? [[port, some]] : [];
      }),
    );

  return {
    carrying,
    /** Of a node whose value leaves by this output port alone. */
    take: (nodeId: string, port: string): void => void open.set(nodeId, new Set([port])),
    /**
     * A step as it runs, whose dependencies are done.
     * @returns undefined when it is skipped: nothing reaches a port that is connected. A step of the result goes without that port.
     */
    reached: (step: PlanStep): PlanStep | undefined => {
      if (Object.values(step.sources).every((all) => all.every(carries))) return step;
      const sources = carrying(step.sources);
      const ports = Object.keys(sources);
      if (ports.length === Object.keys(step.sources).length) return { ...step, sources };
      if (!makesResult(step.type)) return undefined;
      open.set(step.id, new Set(ports));
      return { ...step, sources };
    },
  };
};
