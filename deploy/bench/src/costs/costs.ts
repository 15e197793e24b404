import { CPU_GROUPS, cpuPerRun, cpuTimes, totalOf, type CpuGroup, type CpuTimes } from "./cpu";
import { httpWorkflow, imageWorkflow, textWorkflow, videoWorkflow, type WorkflowBody } from "../graphs";
import { createApiClient, type ApiClient } from "../http";
import { loadEach } from "../load";
import type { Metric } from "../metrics";
import { keyOf, type PlatformUnderTest } from "../platform";
import { alternate, median, type Side, type Sides } from "../rounds";
import { submit, waitForAll } from "../runs";
import { startTarget } from "../target";
import type { Extent } from "../scenarios";
import { withWorkflow } from "../workflow";

/** Compares the cost of a run on two platforms, which are loaded in turn. It counts the CPU of all processes of the loaded platform. */

const PARALLEL = 20;
/** Runs per round and kind, for each 5 seconds of the round. */
const ROUND_UNIT_MS = 5_000;
const VIDEO_LATENCY_MS = 1_000;
/** Rounds before the measurement, because V8 compiles in a thread of its own during the first thousand runs. */
const WARM_UP_ROUNDS = 3;
const CREDITS = 100_000;

interface Kind {
  name: "text" | "HTTP" | "image" | "video";
  /** @param target an address that answers HTTP requests */
  workflow: (target: string) => WorkflowBody;
  mode: "sync" | "async";
  /** Runs in a round of five seconds. */
  runs: number;
}

const KINDS: readonly Kind[] = [
  { name: "text", workflow: textWorkflow, mode: "sync", runs: 300 },
  { name: "HTTP", workflow: httpWorkflow, mode: "sync", runs: 150 },
  { name: "image", workflow: imageWorkflow, mode: "sync", runs: 80 },
  { name: "video", workflow: () => videoWorkflow("Bench video", VIDEO_LATENCY_MS), mode: "async", runs: 100 },
];
interface Round {
  cpu: CpuTimes;
  perSecond: number;
}

const runAll = async (api: ApiClient, slug: string, { mode, runs }: Kind): Promise<number> => {
  const startedAt = performance.now();
  const every = Array.from({ length: runs });
  if (mode === "sync") await loadEach(every, PARALLEL, () => api.expect(200, "POST", `/api/workflows/${slug}/run`, { inputs: {} }));
  else {
    const { results } = await loadEach(every, PARALLEL, () => submit(api, slug));
    await waitForAll(api, results, "completed");
  }
  return (performance.now() - startedAt) / 1_000;
};

const oneRound = async ({ local }: PlatformUnderTest, api: ApiClient, slug: string, kind: Kind): Promise<Round> => {
  const before = cpuTimes(local);
  const seconds = await runAll(api, slug, kind);
  return { cpu: cpuPerRun(before, cpuTimes(local), kind.runs), perSecond: kind.runs / seconds };
};

const parts = (rounds: readonly Round[]): string =>
  (Object.keys(CPU_GROUPS) as CpuGroup[]).map((group) => `${group} ${median(rounds.map(({ cpu }) => cpu[group])).toFixed(1)}`).join(" / ");

/** Medians of all rounds on both sides. */
export interface Cost {
  kind: Kind["name"];
  cpuMs: Sides<number>;
  perSecond: Sides<number>;
}

const costOf = ({ name }: Kind, rounds: Sides<readonly Round[]>): Cost => {
  const both = (of: (round: Round) => number): Sides<number> => ({ ours: median(rounds.ours.map(of)), bare: median(rounds.bare.map(of)) });
  return { kind: name, cpuMs: both(({ cpu }) => totalOf(cpu)), perSecond: both(({ perSecond }) => perSecond) };
};

interface Contender {
  platform: PlatformUnderTest;
  api: ApiClient;
}

const contend = async (platform: PlatformUnderTest, signal: AbortSignal): Promise<Contender> => {
  const { local } = platform;
  const admin = createApiClient(local.baseUrl, keyOf(local, "admin"), signal);
  const path = `/api/admin/users/${local.accounts.enterprise?.userId ?? ""}/credits`;
  await admin.expect(200, "POST", path, { kind: "topup", amount: CREDITS, note: "bench" }).finally(() => admin.close());
  return { platform, api: createApiClient(local.baseUrl, keyOf(local, "enterprise"), signal) };
};

export interface Comparison {
  names: Sides<string>;
  /** Starts a side's platform with additional variables. */
  launch: Sides<(environment: NodeJS.ProcessEnv) => Promise<PlatformUnderTest>>;
  extent: Extent;
  signal: AbortSignal;
  note: (text: string) => void;
}

const measureKind = (kind: Kind, target: string, sides: Sides<Contender>, { names, extent, note }: Comparison): Promise<Cost> =>
  withWorkflow(sides.ours.api, kind.workflow(target), (ours) =>
    withWorkflow(sides.bare.api, kind.workflow(target), async (bare) => {
      const scaled = { ...kind, runs: Math.max(PARALLEL, Math.round((kind.runs * extent.roundMs) / ROUND_UNIT_MS)) };
      const slugs: Sides<string> = { ours, bare };
      const round = (side: Side) => oneRound(sides[side].platform, sides[side].api, slugs[side], scaled);
      note(`${kind.name}: ${extent.rounds} rounds of ${scaled.runs} runs, ${PARALLEL} at once`);
      await alternate(WARM_UP_ROUNDS, { ours: () => round("ours"), bare: () => round("bare") });
      const rounds = await alternate(extent.rounds, { ours: () => round("ours"), bare: () => round("bare") });
      for (const side of ["ours", "bare"] as const) note(`  ${names[side]}: ${parts(rounds[side])} ms`);
      return costOf(kind, rounds);
    }),
  );

/** Starts two platforms and measures four kinds of run. @throws Error if one doesn't start */
export const compareCosts = async (comparison: Comparison): Promise<Cost[]> => {
  const { launch, signal } = comparison;
  const target = await startTarget();
  const started: PlatformUnderTest[] = [];
  const apis: ApiClient[] = [];
  try {
    const start = async (side: Side): Promise<Contender> => {
      const platform = await launch[side]({ EGRESS_ALLOW: target.host });
      started.push(platform);
      const contender = await contend(platform, signal);
      apis.push(contender.api);
      return contender;
    };
    const sides = { ours: await start("ours"), bare: await start("bare") };
    const costs: Cost[] = [];
    for (const kind of KINDS) costs.push(await measureKind(kind, target.url, sides, comparison));
    return costs;
  } finally {
    for (const api of apis) api.close();
    await Promise.all(started.map((platform) => platform.stop()));
    target.stop();
  }
};

/** Converts the CPU of a kind of run to a metric. @param atMost maximum ratio of ours to bare */
export const cpuMetric = ({ kind, cpuMs }: Cost, scenario: string, atMost: number): Metric => ({
  ...{ scenario, name: `${kind} run, CPU`, unit: "ms", ...cpuMs },
  target: { kind: "ratio at most", value: atMost },
});
