import { DomainError, executionNotFound, holdIdOf, isBaseTier, unavailable, type BaseTier } from "@nodeloom/kernel";
import { executions } from "@nodeloom/proto";
import type { RunInput } from "../run/types";
import type { PlannedRun } from "../plan/planning";
import type { ExecutionView } from "../run/record";

/** What a request asks for, as a run: what it is started with, whether a row is the same one, and how it is refused. */

/** How long a refusal for want of credits is told again under the same key. */
const REMEMBERED_MS = 60_000;

/** A run whose row was written, and of which it could not be decided what becomes of it. */
export class Undecided extends Error {
  constructor(cause: unknown) {
    super("the run is undecided", { cause });
  }
}

const isAsyncMode = (mode: executions.RunMode): boolean => mode !== executions.RunMode.RUN_MODE_SYNC;

const baseTierOf = ({ baseTier }: executions.Runner): BaseTier => {
  if (!isBaseTier(baseTier)) throw new DomainError("invalid", "INVALID_REQUEST", "a run needs its runner's base tier");
  return baseTier;
};

/** @returns what a run is started with once its credits are held */
export const toRunInput = (request: executions.RunRequest, runner: executions.Runner, planned: PlannedRun, attempt: number): RunInput => {
  const isAsync = isAsyncMode(request.mode);
  return {
    executionId: request.executionId,
    userId: runner.userId,
    mode: isAsync ? "async" : "sync",
    workflowSlug: planned.workflowSlug,
    ...(planned.version === undefined ? {} : { version: planned.version }),
    source: runner.source,
    keyId: runner.keyId || null,
    webhook: isAsync && runner.webhookUrl ? { url: runner.webhookUrl, events: runner.webhookEvents } : null,
    baseTier: baseTierOf(runner),
    concurrency: runner.concurrency,
    plan: planned.plan,
    modelIds: planned.modelIds,
    holds: planned.holds,
    held: [],
    maxMillicredits: request.maxMillicredits,
    holdId: holdIdOf(request.executionId, attempt),
    attempt,
    receivedAt: Date.now(),
  };
};

export const busy = (): DomainError => unavailable("too many runs are being started", 2);

/** Whatever fails in it leaves a run undecided. */
export const decided = <T>(work: Promise<T>): Promise<T> =>
  work.catch((error: unknown) => {
    throw new Undecided(error);
  });

/** Whether a refusal is told again; all others are judged anew. */
export const isRemembered = ({ refusal, refusedAt }: ExecutionView): boolean => {
  const isMoney = refusal?.reason === "INSUFFICIENT_CREDITS" || refusal?.reason === "grant_exhausted";
  return isMoney && Math.abs(Date.now() - (refusedAt?.getTime() ?? 0)) < REMEMBERED_MS;
};

/** Whether a row is what is asked for. @throws EXECUTION_NOT_FOUND, IDEMPOTENCY_KEY_REUSED */
export const checkSame = (row: ExecutionView, { runner, fingerprint }: executions.RunRequest): void => {
  if (row.userId !== runner?.userId) throw executionNotFound();
  if (fingerprint !== "" && row.fingerprint !== undefined && row.fingerprint !== fingerprint) {
    throw new DomainError("conflict", "IDEMPOTENCY_KEY_REUSED", "this Idempotency-Key was used with another request body");
  }
};
