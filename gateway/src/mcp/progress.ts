/** Progress of a run as MCP expects it: an increasing number out of the number of nodes. */
export interface Step {
  progress: number;
  total: number;
  message: string;
}

export type Report = (step: Step) => void;

export interface Progress {
  /** Step for an event; undefined if there is nothing to report. */
  advance(type: string, data: Readonly<Record<string, unknown>>): Step | undefined;
  /** Step after a silent interval; undefined if there is no room before the next node. */
  tick(): Step | undefined;
}

const ENDS: ReadonlyMap<string, string> = new Map([
  ["node.completed", "completed"],
  ["node.failed", "failed"],
  ["node.cancelled", "cancelled"],
  ["node.skipped", "skipped"],
]);
const STEPS: ReadonlyMap<string, string> = new Map([
  ["admitted", "the run begins"],
  ["queued", "the run waits in line"],
  ["submitted", "submitted"],
  ["node.started", "started"],
  ["node.progress", "goes on"],
  ["node.fallback", "goes on with another model"],
  ["execution.waiting", "waits for a decision"],
]);
/** Fraction of the next node that each event before its completion adds. */
const PART = 0.25;

/** @param nodes number of nodes in the run */
export const createProgress = (nodes: number): Progress => {
  let [endedNodes, between, reported] = [0, 0, -1];
  const step = (message: string): Step | undefined => {
    const progress = endedNodes + between;
    if (progress <= reported) return undefined;
    reported = progress;
    return { progress, total: Math.max(nodes, Math.ceil(progress)), message: `${message} (${endedNodes} of ${nodes} nodes)` };
  };
  const onward = (): void => {
    between += (1 - between) * PART;
  };
  return {
    advance: (type, { nodeId }) => {
      const end = ENDS.get(type);
      const what = end ?? STEPS.get(type);
      if (what === undefined) return undefined;
      if (end === undefined) onward();
      else [endedNodes, between] = [endedNodes + 1, 0];
      return step(typeof nodeId === "string" ? `${nodeId} ${what}` : what);
    },
    tick: () => {
      onward();
      return step("under way");
    },
  };
};
