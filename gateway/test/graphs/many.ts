import fc from "fast-check";
import { judge, type Call, type Verdict, type Names } from "./judge";
import { build, drawnGraphs } from "./shapes";

/** Judges many random graphs in parallel. */

export interface Many {
  call: Call;
  names: Names;
  /** Host of http-request nodes, such as `127.0.0.1:8080`. */
  origin: string;
  seed: number;
  graphs: number;
  parallel: number;
  /** Position of the graph to judge alone. */
  only?: number | undefined;
  /** Called after every graph. */
  onJudged?: (judged: number) => void;
}

export interface Tally {
  ends: Record<Verdict["end"] | "unsuitable", number>;
  calls: number;
  /** Failures with the command to judge the graph again, its problem, and the graph. */
  failures: string[];
}

/** Maximum failures; more would show nothing new. */
const MOST_FAILURES = 5;

export const judgeMany = async ({ call, names, origin, seed, graphs, parallel, only, onJudged }: Many): Promise<Tally> => {
  const sampledGraphs = fc.sample(drawnGraphs, { seed, numRuns: only === undefined ? graphs : only + 1 });
  const tally: Tally = { ends: { refused: 0, completed: 0, failed: 0, unsuitable: 0 }, calls: 0, failures: [] };
  let [next, judged] = [only ?? 0, 0];
  const judgeOne = async (at: number): Promise<void> => {
    const random = build(sampledGraphs[at]!, origin);
    try {
      const { end = "unsuitable", calls = 0 } = (await judge(call, names, random)) ?? {};
      tally.ends[end] += 1;
      tally.calls += calls;
    } catch (error) {
      tally.failures.push(`GRAPHS_SEED=${seed} GRAPHS_ONLY=${at}: ${(error as Error).message}\n${JSON.stringify(random)}`);
    }
    onJudged?.((judged += 1));
  };
  const work = async (): Promise<void> => {
    while (next < sampledGraphs.length && tally.failures.length < MOST_FAILURES) await judgeOne(next++);
  };
  await Promise.all(Array.from({ length: parallel }, work));
  return tally;
};

/**
 * Seed and graph from the environment, to judge one again.
 * @param seed seed without the environment
 */
export const chosenRange = (
  { GRAPHS_SEED, GRAPHS_ONLY }: NodeJS.ProcessEnv,
  seed = Date.now() % 2 ** 31,
): { seed: number; only: number | undefined } => ({
  seed: GRAPHS_SEED === undefined ? seed : Number(GRAPHS_SEED),
  only: GRAPHS_ONLY === undefined ? undefined : Number(GRAPHS_ONLY),
});
