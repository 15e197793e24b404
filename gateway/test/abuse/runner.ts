import { createContext, type Accounts, type Actor } from "../conformance/context";
import type { AbuseCase, Cast } from "./case";
import { usedByAll } from "./processes";

/** What an attack did. Times and sizes are undefined where processes can't be looked at. */
export interface Finding {
  case: AbuseCase;
  attacks: number;
  /** Of the first answer that was wrong. */
  failure: string | undefined;
  cpuMsPerAttack: number | undefined;
  grownMegabytes: number | undefined;
  /** Of another user's requests, before and meanwhile. */
  quietP95Ms: number;
  p95Ms: number;
  /** How many of them failed. */
  refusedOthers: number;
}

export interface AbuseOptions {
  baseUrl: string;
  accounts: Accounts;
  attacks: number;
  /** Processes whose CPU and memory count. */
  pids?: readonly number[];
  onFinding?(finding: Finding): void;
}

const MEGABYTE = 1024 * 1024;
const QUIET_REQUESTS = 20;
const SAMPLE_MS = 20;

const p95 = (values: readonly number[]): number => [...values].sort((a, b) => a - b)[Math.floor(values.length * 0.95)] ?? 0;

/** Another user's requests, one after another, until told to stop. */
const watchOther = (other: Actor, isOver: (done: number) => boolean) =>
  (async () => {
    const times: number[] = [];
    let refused = 0;
    while (!isOver(times.length)) {
      const startedAt = performance.now();
      const { status } = await other.get("/api/workflows");
      times.push(performance.now() - startedAt);
      if (status !== 200) refused += 1;
    }
    return { times, refused };
  })();

const castOf = async ({ baseUrl, accounts }: AbuseOptions): Promise<{ cast: Cast; other: Actor }> => {
  const context = await createContext(baseUrl, accounts, undefined);
  const [attacker, unapproved, other] = [
    await context.actor({ tier: "pro" }),
    await context.actor({ tier: "free", approved: false }),
    await context.actor({ tier: "enterprise" }),
  ];
  return { cast: { context, attacker, unapproved }, other };
};

const attackOften = async (one: AbuseCase, cast: Cast, attacks: number): Promise<string | undefined> => {
  try {
    for (let turn = 0; turn < attacks; turn += 1) await one.attack(cast);
    return undefined;
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
};

/** Tries every case, one after another, while another user goes on working. */
export const runAbuse = async (cases: readonly AbuseCase[], options: AbuseOptions): Promise<Finding[]> => {
  const { attacks, pids = [], onFinding } = options;
  const { cast, other } = await castOf(options);
  const findings: Finding[] = [];
  for (const one of cases) {
    await one.prepare?.(cast);
    const quiet = await watchOther(other, (done) => done >= QUIET_REQUESTS);
    const before = pids.length > 0 ? usedByAll(pids) : undefined;
    let peak = before?.residentBytes ?? 0;
    const sampling = setInterval(() => (peak = Math.max(peak, usedByAll(pids)?.residentBytes ?? 0)), SAMPLE_MS);
    if (!before) clearInterval(sampling);
    let isOver = false;
    const meanwhile = watchOther(other, (done) => isOver && done > 0);
    const failure = await attackOften(one, cast, attacks).finally(() => (isOver = true));
    const { times, refused } = await meanwhile;
    clearInterval(sampling);
    const after = before && usedByAll(pids);
    const finding: Finding = {
      case: one,
      attacks,
      failure,
      cpuMsPerAttack: before && after ? (after.cpuMs - before.cpuMs) / attacks : undefined,
      grownMegabytes: before ? (peak - before.residentBytes) / MEGABYTE : undefined,
      quietP95Ms: p95(quiet.times),
      p95Ms: p95(times),
      refusedOthers: refused,
    };
    findings.push(finding);
    onFinding?.(finding);
  }
  return findings;
};
