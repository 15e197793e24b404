/** Service accounts are identities of programs. They sign in only by API key and remain when the person who created them leaves. */
import { randomUUID } from "node:crypto";
import { CONFLICT_ATTEMPTS, DomainError, invalidRequest, unavailable } from "@nodeloom/kernel";
import { insertIntoFreePlace } from "@nodeloom/platform";
import type { Changes } from "../changes";
import { grantIssues, grantsFor, requireKeyRights } from "./grants";
import type { KeyStore } from "./key-store";
import type { Accounts } from "../organizations/accounts";
import { noSuchOrganization, requireRole } from "../organizations/members";
import type { OrganizationStore } from "../organizations/organization-store";
import { atLimit, readName } from "../organizations/organizations";
import type { ServiceAccountRecord } from "../organizations/records";
import type { ServiceAccountStore } from "../organizations/service-account-store";

/** The owner, which is an organization or the person's own account, and the acting person, who must be an owner of it. */
export interface ServiceAccountOwner {
  personId: string;
  ownerId: string;
}

export interface ServiceAccountEdit {
  name?: string;
  capabilities?: string[];
}

/** Every method throws NOT_FOUND for non-members, and CAPABILITY_DENIED for members who aren't owners. */
export interface ServiceAccounts {
  list(of: ServiceAccountOwner): Promise<ServiceAccountRecord[]>;
  /**
   * @throws INVALID_REQUEST, CAPABILITY_ABOVE_CEILING, PRECONDITION_FAILED if the owner has too many, and the errors of `requireKeyRights`
   */
  create(of: ServiceAccountOwner, edit: Required<ServiceAccountEdit>): Promise<ServiceAccountRecord>;
  /** @throws INVALID_REQUEST, CAPABILITY_ABOVE_CEILING, NOT_FOUND */
  edit(
    of: ServiceAccountOwner,
    id: string,
    edit: ServiceAccountEdit,
  ): Promise<{ before: ServiceAccountRecord; after: ServiceAccountRecord }>;
  /** Removes a service account and ends its keys. @throws NOT_FOUND */
  remove(of: ServiceAccountOwner, id: string): Promise<ServiceAccountRecord>;
}

export interface ServiceAccountsOptions {
  store: ServiceAccountStore;
  organizations: Pick<OrganizationStore, "find">;
  accounts: Pick<Accounts, "get">;
  keys: Pick<KeyStore, "removeMadeBy">;
  changes: Changes;
  clock?: () => number;
}

const noSuchAccount = (): DomainError => new DomainError("not_found", "NOT_FOUND", "service account not found");

export const createServiceAccounts = (options: ServiceAccountsOptions): ServiceAccounts => {
  const { store, organizations, accounts, keys, changes, clock = Date.now } = options;

  const requireOwner = async ({ personId, ownerId }: ServiceAccountOwner): Promise<void> => {
    if (personId === ownerId) return;
    const organization = await organizations.find(ownerId);
    if (!organization) throw noSuchOrganization();
    requireRole(organization, personId, "owner");
  };

  /** A service account has the role `user` even if its owner is an administrator, so it never gets `*`. */
  const readGrants = async (ownerId: string, capabilities: string[]): Promise<string[]> => {
    const issues = grantIssues({ preset: "", capabilities });
    if (issues.length > 0) throw invalidRequest(issues);
    const owner = await accounts.get(ownerId);
    requireKeyRights({ ...owner, role: "user" });
    return grantsFor({ preset: "", capabilities }, { ...owner, role: "user" }).capabilities;
  };

  const create: ServiceAccounts["create"] = async (of, edit) => {
    await requireOwner(of);
    const account: ServiceAccountRecord = {
      ...{ _id: randomUUID(), ownerId: of.ownerId, slot: 0, name: readName(edit.name) },
      capabilities: await readGrants(of.ownerId, edit.capabilities),
      ...{ createdBy: of.personId, createdAt: new Date(clock()) },
    };
    const { serviceAccounts: most } = (await accounts.get(of.ownerId)).plan.caps;
    const slot = await insertIntoFreePlace({
      places: most,
      attempts: CONFLICT_ATTEMPTS.organization,
      usedPlaces: async () => (await store.list(of.ownerId)).map((one) => one.slot),
      insert: (free) => store.insert({ ...account, slot: free }),
      full: () => atLimit(`at most ${most} service accounts; delete one first`, most),
    });
    if (slot === undefined) throw unavailable("too many service accounts are being created at once");
    return { ...account, slot };
  };

  return {
    create,
    list: async (of) => {
      await requireOwner(of);
      return store.list(of.ownerId);
    },
    edit: async (of, id, { name, capabilities }) => {
      await requireOwner(of);
      const change = {
        ...(name === undefined ? {} : { name: readName(name) }),
        ...(capabilities === undefined ? {} : { capabilities: await readGrants(of.ownerId, capabilities) }),
      };
      if (Object.keys(change).length === 0) throw invalidRequest([{ path: "", message: "send at least one of name, capabilities" }]);
      const before = await store.change(of.ownerId, id, change);
      if (!before) throw noSuchAccount();
      await changes.announce({ type: "user", id });
      return { before, after: { ...before, ...change } };
    },
    remove: async (of, id) => {
      await requireOwner(of);
      const removed = await store.remove(of.ownerId, id);
      if (!removed) throw noSuchAccount();
      // The keys are already invalid, because the account is gone.
      await keys.removeMadeBy(of.ownerId, id);
      await changes.announce({ type: "user", id });
      return removed;
    },
  };
};
