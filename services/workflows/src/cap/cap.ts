/** cap/: how many workflows and templates an owner may have, counted without transactions. */

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

/** Tells claims of templates from those of workflows. */
export const TEMPLATES_SUFFIX = " templates";
/** Whose claims those of an owner are kept under. */
export const capsOf = (ownerId: string): string[] => [ownerId, ownerId + TEMPLATES_SUFFIX];

export interface CapDeps {
  claims: ClaimStore;
  /** Tells an owner's claims of this cap from those of others; the cap on saved workflows has none. */
  suffix?: string;
  /** creationIds of what counts for the owner; at most `limit`. */
  saved(ownerId: string, limit: number): Promise<string[]>;
  refusal(max: number): DomainError;
}

export const workflowCapReached = (max: number): DomainError =>
  new DomainError("forbidden", "WORKFLOW_CAP_REACHED", `your plan allows ${max} saved workflow${max === 1 ? "" : "s"}`, {
    maxWorkflows: max,
  });

export const templateCapReached = (max: number): DomainError =>
  new DomainError("forbidden", "TEMPLATE_CAP_REACHED", `an account may have ${max} templates`, { limit: max });

export interface Slot {
  ownerId: string;
  creationId: string;
  /** How many the owner may have; undefined means no cap. */
  max: number | undefined;
}

/** A claim whose process died is ignored after this long: far longer than saving can take. */
const ABANDONED_AFTER_MS = 60_000;

/**
 * Runs `save` if the owner may have one more workflow.
 * @throws DomainError WORKFLOW_CAP_REACHED or TEMPLATE_CAP_REACHED
 */
export type WithinCap = <T>(slot: Slot, save: () => Promise<T>) => Promise<T>;

/**
 * The cap on saved workflows, without transactions. What is saved is the truth; a claim only makes saves that are under
 * way visible to each other. A claim is added before and removed after its save, so whoever adds the next one sees
 * either the claim or the workflow, and counts it once, by its creationId.
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
