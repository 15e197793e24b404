/** Who runs the items of a batch: its owner as they are now, and not as they were when it was created. */
import { DomainError } from "@nodeloom/kernel";
import type { executions } from "@nodeloom/proto";
import { LRUCache } from "lru-cache";
import type { Identity } from "../../clients";
import type { BatchReason, BatchRecord } from "../../run/batch";
import { TIMING } from "../../run/timing";

/** An owner who may not run any more. */
export interface Stopped {
  stopped: BatchReason;
}

export type CurrentRunner = (batch: BatchRecord) => Promise<executions.Runner | Stopped>;

export const isStopped = (runner: executions.Runner | Stopped): runner is Stopped => "stopped" in runner;

const REMEMBERED = 1_000;
const SUSPENDED: BatchReason = { code: "ACCOUNT_SUSPENDED", message: "the account was suspended" };
const NOT_APPROVED: BatchReason = { code: "ACCOUNT_NOT_APPROVED", message: "the account is not approved any more" };

/** Looks an owner up once a minute: tier, markup and places hold from then on. While identity is away, what was known last does. */
export const createCurrentRunner = ({ identity }: { identity: Pick<Identity, "getUser"> }): CurrentRunner => {
  const recent = new LRUCache<string, executions.Runner | Stopped>({ max: REMEMBERED, ttl: TIMING.batchOwner });

  const read = async ({ runner, userId }: BatchRecord): Promise<executions.Runner | Stopped> => {
    const { user } = await identity.getUser({ userId });
    if (user?.suspended) return { stopped: SUSPENDED };
    if (!user?.approved) return { stopped: NOT_APPROVED };
    const { role, tier, plan } = user;
    if (!plan) return runner;
    const { base: baseTier, markupPermille, concurrency } = plan;
    return { ...runner, role, tier, baseTier, markupPermille, concurrency };
  };

  return async (batch) => {
    const known = recent.get(batch._id);
    if (known) return known;
    const found = await read(batch).catch((error: unknown) => {
      if (error instanceof DomainError && error.kind === "not_found") return { stopped: NOT_APPROVED };
      return batch.runner;
    });
    recent.set(batch._id, found);
    return found;
  };
};
