import { checkOut } from "./checkout";
import { CPU_GROUPS, cpuPerRun, cpuTimes, totalOf, type CpuGroup, type CpuTimes } from "./cpu";
import { httpWorkflow, imageWorkflow, textWorkflow, videoWorkflow, type WorkflowBody } from "./graphs";
import { createApiClient, type ApiClient } from "./http";
import { loadEach } from "./load";
import type { Metric, Target } from "./metrics";
import { keyOf, launch, ROOT, type PlatformUnderTest } from "./platform";
import { alternate, median, type Side } from "./rounds";
import { submit, waitForAll } from "./runs";
import { startTarget } from "./target";
import type { Extent } from "./scenarios";
import { withWorkflow } from "./workflow";

/**
 * What a run costs here and at another commit: two platforms on one machine, loaded in turn. CPU is what counts, of all
 * processes of a platform together; the one that is not loaded only idles.
 */

const PARALLEL = 20;
/** Of one kind of run, in one round, for each 5 seconds of a round's length. */
const ROUND_UNIT_MS = 5_000;
const VIDEO_LATENCY_MS = 1_000;
const CREDITS = 100_000;

interface Kind {
  name: string;
  /** @param target an address that answers HTTP requests */
  workflow: (target: string) => WorkflowBody;
  mode: "sync" | "async";
  /** Runs in a round of five seconds. */
  runs: number;
  /** Of the other commit's CPU, at most. */
  atMost: number;
}

const KINDS: readonly Kind[] = [
  { name: "text", workflow: textWorkflow, mode: "sync", runs: 300, atMost: 0.3 },
  { name: "HTTP", workflow: httpWorkflow, mode: "sync", runs: 150, atMost: 0.5 },
  { name: "image", workflow: imageWorkflow, mode: "sync", runs: 80, atMost: 0.55 },
  { name: "video", workflow: () => videoWorkflow("Bench video", VIDEO_LATENCY_MS), mode: "async", runs: 100, atMost: 0.6 },
];
/** Throughput must follow the CPU saved, but for a tenth. */
const FOLLOWS = 1.1;

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

const metricsOf = ({ name, atMost }: Kind, ours: readonly Round[], bare: readonly Round[]): Metric[] => {
  const figure = (rounds: readonly Round[], of: (round: Round) => number): number => median(rounds.map(of));
  const both = (metric: string, unit: Metric["unit"], of: (round: Round) => number, target: Target): Metric => ({
    scenario: "cost",
    name: `${name} run, ${metric}`,
    unit,
    ours: figure(ours, of),
    bare: figure(bare, of),
    target,
  });
  return [
    both("CPU", "ms", ({ cpu }) => totalOf(cpu), { kind: "ratio at most", value: atMost }),
    both("per second", "/s", ({ perSecond }) => perSecond, { kind: "ratio at least", value: 1 / (atMost * FOLLOWS) }),
  ];
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

const measureKind = (kind: Kind, target: string, sides: Record<Side, Contender>, extent: Extent, note: (text: string) => void) =>
  withWorkflow(sides.ours.api, kind.workflow(target), (ours) =>
    withWorkflow(sides.bare.api, kind.workflow(target), async (bare) => {
      const scaled = { ...kind, runs: Math.max(PARALLEL, Math.round((kind.runs * extent.roundMs) / ROUND_UNIT_MS)) };
      const slugs: Record<Side, string> = { ours, bare };
      const round = (side: Side) => oneRound(sides[side].platform, sides[side].api, slugs[side], scaled);
      note(`${kind.name}: ${extent.rounds} rounds of ${scaled.runs} runs, ${PARALLEL} at once`);
      for (const side of ["ours", "bare"] as const) await round(side);
      const rounds = await alternate(extent.rounds, { ours: () => round("ours"), bare: () => round("bare") });
      note(`  here:  ${parts(rounds.ours)} ms`);
      note(`  there: ${parts(rounds.bare)} ms`);
      return metricsOf(kind, rounds.ours, rounds.bare);
    }),
  );

/**
 * Measures four kinds of run on this checkout's platform and on a commit's, both started for it.
 * @throws Error when there is no such commit, or a platform runs in this checkout already
 */
export const measureAgainst = async (
  name: string,
  extent: Extent,
  signal: AbortSignal,
  note: (text: string) => void,
): Promise<Metric[]> => {
  const other = await checkOut(name);
  const target = await startTarget();
  const started: PlatformUnderTest[] = [];
  const apis: ApiClient[] = [];
  try {
    const start = async (root: string): Promise<Contender> => {
      const platform = await launch(root, signal, { EGRESS_ALLOW: target.host });
      started.push(platform);
      const contender = await contend(platform, signal);
      apis.push(contender.api);
      return contender;
    };
    note(`starting this checkout and ${other.commit}`);
    const sides = { ours: await start(ROOT), bare: await start(other.root) };
    const metrics: Metric[] = [];
    for (const kind of KINDS) metrics.push(...(await measureKind(kind, target.url, sides, extent, note)));
    return metrics;
  } finally {
    for (const api of apis) api.close();
    await Promise.all(started.map((platform) => platform.stop()));
    target.stop();
  }
};
