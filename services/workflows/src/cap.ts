import { randomUUID } from "node:crypto";
import { DomainError } from "@nodeloom/kernel";

/** A workflow that is about to count for its owner. */
export interface Claim {
  token: string;
  creationId: string;
  at: Date;
}

export interface ClaimStore {
  /** Appends a claim and answers all of the owner's, oldest first. */
  add(ownerId: string, claim: Claim): Promise<Claim[]>;
  remove(ownerId: string, tokens: readonly string[]): Promise<void>;
}

export interface CapDeps {
  claims: ClaimStore;
  /** creationIds of the owner's saved workflows, templates excepted; at most `limit`. */
  saved(ownerId: string, limit: number): Promise<string[]>;
}

export interface Slot {
  ownerId: string;
  creationId: string;
  /** Workflows the owner may have; undefined means no cap. */
  max: number | undefined;
}

/** A claim whose process died is ignored after this long: far longer than saving can take. */
const ABANDONED_AFTER_MS = 60_000;

/**
 * Runs `save` if the owner may have one more workflow.
 * @throws DomainError WORKFLOW_CAP_REACHED
 */
export type WithinCap = <T>(slot: Slot, save: () => Promise<T>) => Promise<T>;

/**
 * The cap on saved workflows, without transactions. What is saved is the truth; a claim only makes saves that are under
 * way visible to each other. A claim is added before and removed after its save, so whoever adds the next one sees
 * either the claim or the workflow, and counts it once, by its creationId.
 */
export const createCap =
  ({ claims, saved }: CapDeps): WithinCap =>
  async ({ ownerId, creationId, max }, save) => {
    if (max === undefined) return save();
    const claim: Claim = { token: randomUUID(), creationId, at: new Date() };
    const all = await claims.add(ownerId, claim);
    const oldest = claim.at.getTime() - ABANDONED_AFTER_MS;
    const abandoned = all.filter(({ at }) => at.getTime() < oldest).map(({ token }) => token);
    try {
      const earlier = all
        .slice(
          0,
          all.findIndex(({ token }) => token === claim.token),
        )
        .filter(({ token }) => !abandoned.includes(token));
      const others = new Set([...earlier.map((other) => other.creationId), ...(await saved(ownerId, max + 1))]);
      others.delete(creationId);
      if (others.size >= max) {
        throw new DomainError("forbidden", "WORKFLOW_CAP_REACHED", `your plan allows ${max} saved workflow${max === 1 ? "" : "s"}`, {
          maxWorkflows: max,
        });
      }
      return await save();
    } finally {
      await claims.remove(ownerId, [claim.token, ...abandoned]);
    }
  };
