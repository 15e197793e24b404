import { createContext, type Accounts } from "../conformance/context";
import type { AbuseCase, Cast } from "./case";
import { startOther, type Other, type Timings } from "./other";
import type { StripeEnd } from "../../../test-support/stripe";
import { usedByAll, type ResourceUse } from "./processes";

/** Result of an attack. Times and sizes are undefined if processes can't be measured. */
export interface Finding {
  case: AbuseCase;
  attacks: number;
  /** The first wrong response. */
  failure: string | undefined;
  /** CPU time of the platform's processes per hostile request, without the share of the other user's requests. */
  cpuMsPerRequest: number | undefined;
  /** CPU time of the servers that the platform uses, measured in the same way. */
  serverCpuMsPerRequest: number | undefined;
  /** Largest growth of the platform's memory over the value before the attack. */
  grownMegabytes: number | undefined;
  /** Response times of another user's requests, before and after the attack, and during it. */
  quietP95Ms: number;
  p95Ms: number;
  /** Number of the other user's failed requests. */
  refusedOthers: number;
}

export interface AbuseOptions {
  baseUrl: string;
  sandboxUrl: string;
  temporalUiUrl?: string | undefined;
  /** Addresses of further gateways. */
  moreGateways?: readonly string[];
  stripe?: StripeEnd;
  accounts: Accounts;
  attacks: number;
  /** Processes whose CPU and memory count: the platform's, and MongoDB, Redis and Temporal. Without them, only responses are checked. */
  pids?: { own: readonly number[]; servers: readonly number[] };
  /** True if the machine can be the cause of a finding, so that the case is repeated. */
  isUncertain?(finding: Finding): boolean;
  onFinding?(finding: Finding): void;
}

const MEGABYTE = 1024 * 1024;
/** Number of another user's requests before and after an attack. */
const QUIET_REQUESTS = 25;
const BUSY_REQUESTS = 50;
/** Maximum factor for repeating quick attacks. */
const MOST_REPEATS = 20;
const SAMPLE_MS = 20;
const TRIES = 3;

const p95 = (values: readonly number[]): number => [...values].sort((a, b) => a - b)[Math.floor(values.length * 0.95)] ?? 0;

const castOf = async ({ baseUrl, moreGateways = [], stripe, ...options }: AbuseOptions): Promise<{ cast: Cast; other: Other }> => {
  const { accounts, sandboxUrl, temporalUiUrl } = options;
  const context = await createContext(baseUrl, accounts, undefined);
  const cast: Cast = {
    context,
    attacker: await context.actor({ tier: "pro" }),
    unlimited: await context.actor({ tier: "enterprise" }),
    unapproved: await context.actor({ tier: "free", approved: false }),
    victim: await context.actor({ tier: "enterprise" }),
    sandboxUrl,
    temporalUiUrl,
    gateways: [baseUrl, ...moreGateways],
    stripe,
  };
  return { cast, other: startOther(baseUrl, await context.actor({ tier: "enterprise" })) };
};

const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));

/** Repeats an attack until the condition holds. */
const attackOften = async (attack: () => Promise<void>, isEnough: (madeCount: number) => boolean) => {
  let madeCount = 0;
  try {
    for (; !isEnough(madeCount); madeCount += 1) await attack();
    return { count: madeCount, failure: undefined };
  } catch (error) {
    return { count: madeCount + 1, failure: messageOf(error) };
  }
};

type Meter = () => { own: ResourceUse; servers: ResourceUse } | undefined;
const meterOf =
  ({ pids }: AbuseOptions): Meter =>
  () => {
    if (!pids) return undefined;
    const [own, servers] = [usedByAll(pids.own), usedByAll(pids.servers)];
    return own && servers && { own, servers };
  };

interface WatchedTimings extends Timings {
  cpuMs: { own: number; servers: number } | undefined;
}

/** Measures another user's requests during some work, at least this number of them. */
const watch = async (
  other: Other,
  meter: Meter,
  atLeast: number,
  work: (doneCount: () => number) => Promise<unknown> = () => Promise.resolve(),
): Promise<WatchedTimings> => {
  const before = meter();
  const working = other.begin(atLeast);
  await work(working.doneCount);
  const result = await working.end();
  const after = before && meter();
  return {
    ...result,
    cpuMs: before && after && { own: after.own.cpuMs - before.own.cpuMs, servers: after.servers.cpuMs - before.servers.cpuMs },
  };
};

/** Largest growth of the platform's memory since the last `begin`. */
const watchMemory = (meter: Meter) => {
  const resident = (): number => meter()?.own.residentBytes ?? 0;
  let [startBytes, growth] = [resident(), 0];
  const look = (): void => void (growth = Math.max(growth, resident() - startBytes));
  const sampling = setInterval(look, SAMPLE_MS);
  return {
    begin: () => {
      look();
      startBytes = resident();
    },
    end: () => {
      look();
      clearInterval(sampling);
      return meter() && growth / MEGABYTE;
    },
  };
};

const tryCase = async (one: AbuseCase, { cast, other }: { cast: Cast; other: Other }, options: AbuseOptions): Promise<Finding> => {
  const { attacks, pids } = options;
  const meter = meterOf(options);
  const quietRequests = pids ? QUIET_REQUESTS : 1;
  await one.prepare?.(cast);
  const quiet = await watch(other, meter, quietRequests);
  const memory = watchMemory(meter);
  const attack = (): Promise<void> => {
    memory.begin();
    return one.attack(cast);
  };
  let attacked: Awaited<ReturnType<typeof attackOften>> = { count: 0, failure: undefined };
  const busy = await watch(other, meter, 1, async (doneCount) => {
    const isEnough = (madeCount: number): boolean =>
      madeCount >= attacks && (pids === undefined || madeCount >= attacks * MOST_REPEATS || doneCount() >= BUSY_REQUESTS);
    attacked = await attackOften(attack, isEnough);
  });
  const grownMegabytes = memory.end();
  const after = await watch(other, meter, quietRequests);
  await one.cleanUp?.(cast);
  const quietTimes = [...quiet.times, ...after.times];
  const share = (of: "own" | "servers"): number | undefined => {
    if (!quiet.cpuMs || !busy.cpuMs || !after.cpuMs) return undefined;
    const perOther = (quiet.cpuMs[of] + after.cpuMs[of]) / quietTimes.length;
    return Math.max(0, busy.cpuMs[of] - perOther * busy.times.length) / attacked.count / (one.requests ?? 1);
  };
  return {
    case: one,
    attacks: attacked.count,
    failure: attacked.failure,
    cpuMsPerRequest: share("own"),
    serverCpuMsPerRequest: share("servers"),
    grownMegabytes,
    quietP95Ms: p95(quietTimes),
    p95Ms: p95(busy.times),
    refusedOthers: quiet.refusals + busy.refusals + after.refusals,
  };
};

const larger = (a: number | undefined, b: number | undefined): number | undefined =>
  a === undefined || b === undefined ? undefined : Math.max(a, b);

/** Merges two attempts of a case. Only the other user's times are from the second attempt. */
const withWorstOf = (first: Finding, again: Finding): Finding => ({
  ...again,
  failure: first.failure ?? again.failure,
  cpuMsPerRequest: larger(first.cpuMsPerRequest, again.cpuMsPerRequest),
  serverCpuMsPerRequest: larger(first.serverCpuMsPerRequest, again.serverCpuMsPerRequest),
  grownMegabytes: larger(first.grownMegabytes, again.grownMegabytes),
  refusedOthers: first.refusedOthers + again.refusedOthers,
});

/** Runs every case in turn while another user keeps working. */
export const runAbuse = async (cases: readonly AbuseCase[], options: AbuseOptions): Promise<Finding[]> => {
  const people = await castOf(options);
  const findings: Finding[] = [];
  try {
    for (const one of cases) {
      const attempt = (): Promise<Finding> =>
        tryCase(one, people, options).catch((error: unknown) => {
          throw new Error(`${one.id}: ${messageOf(error)}`);
        });
      let finding = await attempt();
      for (let tries = 1; tries < TRIES && options.isUncertain?.(finding) === true; tries += 1) {
        finding = withWorstOf(finding, await attempt());
      }
      findings.push(finding);
      options.onFinding?.(finding);
    }
    return findings;
  } finally {
    await people.other.stop();
  }
};
