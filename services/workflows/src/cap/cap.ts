/** Enforces the limits on workflows and templates per owner, without transactions. */

import { randomUUID } from "node:crypto";
import { DomainError } from "@nodeloom/kernel";

/** A workflow that is being saved. */
export interface Claim {
  token: string;
  creationId: string;
  at: Date;
}

export interface ClaimStore {
  /** Appends a claim. @returns all claims of the owner, oldest first */
  add(ownerId: string, claim: Claim): Promise<Claim[]>;
  remove(ownerId: string, tokens: readonly string[]): Promise<void>;
}

/** Suffix of the owner key for template claims. */
export const TEMPLATES_SUFFIX = " templates";
/** Keys of an owner's claims. */
export const capsOf = (ownerId: string): string[] => [ownerId, ownerId + TEMPLATES_SUFFIX];

export interface CapDeps {
  claims: ClaimStore;
  /** Suffix of the owner key for this limit; none for saved workflows. */
  suffix?: string;
  /** Returns creationIds of the owner's saved workflows, at most `limit`. */
  saved(ownerId: string, limit: number): Promise<string[]>;
  refusal(max: number): DomainError;
}

export const workflowCapReached = (max: number): DomainError =>
  new DomainError("forbidden", "WORKFLOW_CAP_REACHED", `your plan allows ${max} saved workflow${max === 1 ? "" : "s"}`, {
    maxWorkflows: max,
  });

export const templateCapReached = (max: number): DomainError =>
  new DomainError("forbidden", "TEMPLATE_CAP_REACHED", `an account can have at most ${max} templates`, { limit: max });

export interface Slot {
  ownerId: string;
  creationId: string;
  /** The limit; undefined for none. */
  max: number | undefined;
}

/** Age after which a claim counts as abandoned. A save takes far less time. */
const ABANDONED_AFTER_MS = 60_000;

/**
 * Runs `save` if the owner can have another workflow.
 * @throws DomainError WORKFLOW_CAP_REACHED or TEMPLATE_CAP_REACHED
 */
export type WithinCap = <T>(slot: Slot, save: () => Promise<T>) => Promise<T>;

/**
 * Enforces the limit without transactions. Saved rows decide; claims only make concurrent saves visible to each other. A claim is added
 * before its save and removed after it. A later save therefore sees the claim or the workflow, and counts either once by creationId.
 */
export const createCap =
  ({ claims, saved, refusal, suffix = "" }: CapDeps): WithinCap =>
  async ({ ownerId, creationId, max }, save) => {
    if (max === undefined) return save();
    const claim: Claim = { token: randomUUID(), creationId, at: new Date() };
    const all = await claims.add(ownerId + suffix, claim);
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
        throw refusal(max);
      }
      return await save();
    } finally {
      await claims.remove(ownerId + suffix, [claim.token, ...abandoned]);
    }
  };
