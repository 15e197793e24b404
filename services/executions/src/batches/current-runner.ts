/** Looks up the current runner of a batch, which may differ from the runner at its creation. */
import { covers, DomainError, type ErrorKind } from "@nodeloom/kernel";
import { LRUCache } from "lru-cache";
import type { Identity } from "../clients";
import type { BatchRecord } from "../run/batch";
import type { BatchReason } from "../run/batch-reasons";
import { TIMING } from "../run/timing";
import type { Runner } from "../run/runner";

/** Result if the owner has lost the right to run. */
export interface StopReason {
  stopped: BatchReason;
}

export type CurrentRunner = (batch: BatchRecord) => Promise<Runner | StopReason>;

export const isStopped = (runner: Runner | StopReason): runner is StopReason => "stopped" in runner;

const REMEMBERED = 1_000;
const SUSPENDED: BatchReason = { code: "ACCOUNT_SUSPENDED", message: "the account was suspended" };
const NOT_APPROVED: BatchReason = { code: "ACCOUNT_NOT_APPROVED", message: "the account is no longer approved" };

/** Identity returns these kinds for a key that is revoked, expired or above its owner's tier, and for a person without access. */
const ENDED: ReadonlySet<ErrorKind> = new Set<ErrorKind>(["unauthenticated", "forbidden"]);
const REVOKED: BatchReason = { code: "UNAUTHENTICATED", message: "the key of the batch was revoked or has expired" };

const stoppedFor = ({ kind, reason: code, message }: DomainError, keyId: string): StopReason => ({
  stopped: kind === "unauthenticated" && keyId !== "" ? REVOKED : { code, message },
});

const neededBy = ({ $case, value }: BatchRecord["target"]): string => `${$case === "model" ? "model" : "workflow"}:${value}:run`;

/**
 * Looks up the owner of a batch at most once a second, with the key or person that created it. The result has the current tier, markup,
 * places and capabilities. While identity is unavailable, the last result is used.
 */
export const createCurrentRunner = ({ identity }: { identity: Pick<Identity, "getUser" | "resolveKey"> }): CurrentRunner => {
  const recent = new LRUCache<string, Runner | StopReason>({ max: REMEMBERED, ttl: TIMING.batchRunner });

  const lookUp = async ({ runner: { keyId, personId = "" }, userId, createdAt, grantedAt: at = createdAt }: BatchRecord) => {
    const grant = { personId: personId || userId, at };
    if (keyId === "") return { ...(await identity.getUser({ userId, grant })), capabilities: undefined };
    const { user, effectiveCapabilities } = await identity.resolveKey({ userId, keyId });
    return { user, capabilities: effectiveCapabilities };
  };

  const read = async (batch: BatchRecord): Promise<Runner | StopReason> => {
    const { runner, target } = batch;
    const { user, capabilities } = await lookUp(batch);
    if (user?.suspended) return { stopped: SUSPENDED };
    if (!user?.approved) return { stopped: NOT_APPROVED };
    const needed = neededBy(target);
    if (capabilities && !covers(capabilities, needed))
      return { stopped: { code: "CAPABILITY_DENIED", message: `the key of the batch no longer has the capability ${needed}` } };
    const { role, tier, plan } = user;
    if (!plan) return runner;
    const { base: baseTier, markupPermille, concurrency } = plan;
    return { ...runner, role, tier, baseTier, markupPermille, concurrency, ...(capabilities ? { capabilities } : {}) };
  };

  return async (batch) => {
    // Another caller may have resumed the batch, so its key and person are part of the cache key.
    const name = `${batch._id} ${batch.runner.keyId} ${batch.runner.personId ?? ""}`;
    const cached = recent.get(name);
    if (cached) return cached;
    const runner = await read(batch).catch((error: unknown) => {
      if (!(error instanceof DomainError)) return batch.runner;
      if (error.kind === "not_found") return { stopped: NOT_APPROVED };
      return ENDED.has(error.kind) ? stoppedFor(error, batch.runner.keyId) : batch.runner;
    });
    recent.set(name, runner);
    return runner;
  };
};
