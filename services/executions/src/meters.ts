import { durationHistogram, eventCounter, observedGauge, type Reading, type Slots } from "@nodeloom/platform";
import type { Reason } from "@nodeloom/kernel";
import { RUN_WORKFLOW, type Refusal, type RunEnd, type RunError } from "./run/types";

/**
 * Metrics for operators. Attributes have few distinct values (outcomes, codes, node kinds, provider hosts), never ids of users, runs,
 * workflows or models.
 */

const runs = eventCounter("nodeloom.runs", "runs that ended or were refused, by outcome, error code and whose fault it was");
const runTook = durationHistogram("nodeloom.run.duration", "how long runs took from their request to their end");
const nodeTook = durationHistogram("nodeloom.node.duration", "how long nodes of ended runs took, by kind");
const outgoingWaits = eventCounter(
  "nodeloom.outgoing.over_budget",
  "calls to addresses of users that were too many in a minute, by kind and outcome",
);
const moderationTook = durationHistogram(
  "nodeloom.moderation.question.duration",
  "questions to the moderation hook, waiting for their turn included, by kind and outcome",
);
export const notePollLag = durationHistogram("nodeloom.poll.lag", "how much later jobs were asked for than they should have been");

const MS = 1_000;

const FAULT_BY_CODE: Partial<Record<Reason, NonNullable<RunError["fault"]>>> = {
  PROVIDER_RESPONSE_INCOMPLETE: "provider",
  PROVIDER_SUBMIT_FAILED: "provider",
  BUDGET_EXCEEDED: "input",
  CONTENT_REFUSED: "input",
  INSUFFICIENT_CREDITS: "input",
  OUTGOING_LIMIT_EXCEEDED: "input",
  WORKFLOW_INVALID: "input",
  grant_exhausted: "input",
};

/** @returns `ours` unless another party is known to have caused the failure. Service level objectives count `ours`. */
const faultOf = ({ code, fault }: RunError): NonNullable<RunError["fault"]> | "ours" => fault ?? FAULT_BY_CODE[code] ?? "ours";

/** Counts an ended run. Call it once per run. */
export const countRun = (
  { status, error, nodes }: Pick<RunEnd, "status" | "error" | "nodes">,
  target: "workflow" | "model",
  durationMs: number,
): void => {
  const labels = { outcome: status, target };
  runs(error ? { ...labels, code: error.code, fault: faultOf(error) } : labels);
  runTook(durationMs, labels);
  for (const node of nodes) if (node.durationMs !== null) nodeTook(node.durationMs, { kind: node.type, outcome: node.status });
};

/** Counts a refused run. Call it when a run is refused at its start. */
export const countRefusal = ({ reason }: Pick<Refusal, "reason">): void => runs({ outcome: "refused", code: reason });

/** @param outcome `allowed`, `refused` or `away` */
export const countModeration = (kind: "input" | "output", outcome: string, durationMs: number): void =>
  moderationTook(durationMs, { kind, outcome });

export const countOutgoingWait = (kind: "call", outcome: "waited" | "refused"): void => outgoingWaits({ kind, outcome });

const failingTasks = new Map<string, number>([[RUN_WORKFLOW, 0]]);
export const noteFailingTasks = (types: readonly string[]): void => {
  for (const type of failingTasks.keys()) failingTasks.set(type, 0);
  for (const type of types) failingTasks.set(type, (failingTasks.get(type) ?? 0) + 1);
};

const passes = new Map<string, number>();
/** Records that a service has no expired data left. */
export const notePass = (owner: string): void => void passes.set(owner, Math.floor(Date.now() / MS));

let ledger: { mismatches: number; at: number } | undefined;
/** Records the result of a comparison of all accounts with their ledgers. */
export const noteLedgerCheck = (mismatches: number): void => void (ledger = { mismatches, at: Math.floor(Date.now() / MS) });

export interface MeterSources {
  pools: Readonly<Record<string, Pick<Slots, "load">>>;
  /** Providers that this process calls, with the state of their circuits. */
  providers: () => { name: string; isOpen: boolean; load?: ReturnType<Slots["load"]> }[];
  /** Number of provider jobs that this process polls. */
  jobs: () => number;
  /** True while limits of providers count in all processes together. */
  areLimitsShared: () => boolean;
}

export type Stop = () => void;

/** @returns a function that stops the observation */
export const watchLoad = ({ pools, providers, jobs, areLimitsShared }: MeterSources): Stop => {
  const loads = (pick: "inUse" | "waiting") => (): Reading[] => [
    ...Object.entries(pools).map(([pool, slots]) => ({ value: slots.load()[pick], attributes: { pool } })),
    ...providers().flatMap(({ name, load }) => (load ? [{ value: load[pick], attributes: { pool: `provider ${name}` } }] : [])),
  ];
  const ends = [
    observedGauge("nodeloom.slots.in_use", "places that are taken, by pool", loads("inUse")),
    observedGauge("nodeloom.slots.waiting", "work that waits for a place, by pool", loads("waiting")),
    observedGauge("nodeloom.jobs.followed", "jobs at providers that this process follows", () => [{ value: jobs() }]),
    observedGauge("nodeloom.provider.limits.shared", "1 while limits of providers count in all processes together", () => [
      { value: areLimitsShared() ? 1 : 0 },
    ]),
    observedGauge("nodeloom.workflow_tasks.failing", "workflows whose task fails again and again, by type", () =>
      [...failingTasks].map(([workflow, value]) => ({ value, attributes: { workflow } })),
    ),
    observedGauge("nodeloom.retention.passed", "when this process last saw a service without expired data, in Unix seconds", () =>
      [...passes].map(([owner, value]) => ({ value, attributes: { owner } })),
    ),
    observedGauge("nodeloom.ledger.mismatches", "accounts that disagreed with their ledgers at this process's last check", () =>
      ledger ? [{ value: ledger.mismatches }] : [],
    ),
    observedGauge("nodeloom.ledger.checked", "when this process last compared all accounts with their ledgers, in Unix seconds", () =>
      ledger ? [{ value: ledger.at }] : [],
    ),
    observedGauge("nodeloom.provider.breaker.open", "1 while a provider is left alone because it is away", () =>
      providers().map(({ name, isOpen }) => ({ value: isOpen ? 1 : 0, attributes: { provider: name } })),
    ),
  ];
  return () => ends.forEach((end) => end());
};
