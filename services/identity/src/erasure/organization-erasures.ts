/**
 * Erasure of organizations. An owner requests it, and any owner can cancel it until it starts. `executions/src/maintenance/erasing.ts` then
 * erases the data in every service.
 */
import { preconditionFailed } from "@nodeloom/kernel";
import type { Changes } from "../changes";
import { newErasure, type ErasureMarks } from "./erasure-store";
import type { ErasureRecord } from "../records";
import type { RunStops } from "../users/run-stops";
import type { User } from "../users/user";
import type { Accounts } from "../organizations/accounts";
import { noSuchOrganization, requireRole } from "../organizations/members";
import type { OrganizationChange, OrganizationStore } from "../organizations/organization-store";
import { changeOrganization } from "../organizations/organizations";
import type { OrganizationRecord } from "../organizations/records";

/** The requesting owner; undefined for an administrator. */
export type AskedBy = string | undefined;

export interface OrganizationErasures extends ErasureMarks {
  /** @throws NOT_FOUND for a non-member, CAPABILITY_DENIED for a member who isn't an owner */
  requireOwner(personId: AskedBy, id: string): Promise<void>;
  /**
   * Schedules an erasure; one that is already scheduled keeps its time. @returns the organization's account
   * @throws the errors of `requireOwner`
   */
  request(personId: AskedBy, id: string): Promise<User>;
  /** Cancels an erasure. Idempotent. @throws the errors of `requireOwner`, or PRECONDITION_FAILED if the erasure has started */
  withdraw(personId: AskedBy, id: string): Promise<User>;
  /** @throws NOT_FOUND; PRECONDITION_FAILED if no erasure is due */
  begin(id: string): Promise<void>;
}

export interface OrganizationErasuresOptions {
  marks: ErasureMarks;
  store: Pick<OrganizationStore, "find" | "change">;
  accounts: Pick<Accounts, "ofOrganization">;
  runStops: Pick<RunStops, "begin" | "drop">;
  changes: Changes;
  /** Time in which an erasure can be cancelled. */
  waitMs: number;
  clock: () => number;
}

/** The mark of an erased organization. It has no members, and so no valid keys. Its creator's slot is free. */
export const erasedOrganization = (_id: string, erasure: ErasureRecord, begunAt: Date): OrganizationChange => ({
  ...{ name: `erased:${_id}`, place: _id, tierOf: _id, members: [], invitations: [] },
  erasure: { ...erasure, begunAt },
});

export const createOrganizationErasures = (options: OrganizationErasuresOptions): OrganizationErasures => {
  const { marks, store, accounts, runStops, changes, waitMs, clock } = options;
  const announce = (id: string): Promise<void> => changes.announce({ type: "organization", id });

  const checkOwner = (organization: OrganizationRecord, personId: AskedBy): void => {
    if (personId !== undefined) requireRole(organization, personId, "owner");
    if (organization.erasure?.begunAt) throw preconditionFailed("the organization is being deleted already");
  };
  const ownedBy = async (personId: AskedBy, id: string): Promise<OrganizationRecord> => {
    const organization = await store.find(id);
    if (!organization) throw noSuchOrganization();
    checkOwner(organization, personId);
    return organization;
  };

  return {
    ...marks,
    requireOwner: async (personId, id) => void (await ownedBy(personId, id)),

    request: async (personId, id) => {
      const ownedOrganization = await ownedBy(personId, id);
      if (ownedOrganization.erasure) return accounts.ofOrganization(ownedOrganization);
      const now = clock();
      const stop = await runStops.begin(id);
      const { after } = await changeOrganization(store, id, (organization) => {
        checkOwner(organization, personId);
        const { erasure } = organization;
        return erasure ? { erasure } : { erasure: newErasure(new Date(now), new Date(now + waitMs)), stop };
      });
      // A concurrent request scheduled the erasure first.
      if (after.stop?.id !== stop.id) await runStops.drop(stop);
      await announce(id);
      return accounts.ofOrganization(after);
    },

    withdraw: async (personId, id) => {
      const ownedOrganization = await ownedBy(personId, id);
      if (!ownedOrganization.erasure) return accounts.ofOrganization(ownedOrganization);
      const { after } = await changeOrganization(store, id, (organization) => {
        checkOwner(organization, personId);
        return { erasure: null };
      });
      await announce(id);
      return accounts.ofOrganization(after);
    },

    begin: async (id) => {
      const organization = await store.find(id);
      if (organization?.erasure?.begunAt) return;
      const now = new Date(clock());
      await changeOrganization(store, id, ({ erasure }) => {
        if (!erasure || erasure.erasesAt > now) throw preconditionFailed("the organization is not to be deleted now");
        return erasedOrganization(id, erasure, erasure.begunAt ?? now);
      });
      await announce(id);
    },
  };
};
