import { PLANS, type Role } from "@nodeloom/kernel";
import { noSuchUser, type User } from "../users/user";
import type { Users } from "../users/users";
import { memberOf } from "./members";
import type { OrganizationStore } from "./organization-store";
import type { OrganizationRecord } from "./records";
import type { ServiceAccountStore } from "./service-account-store";

/** Members of a key that its validity depends on. */
export interface HeldKey {
  userId: string;
  /** Creator of the key; absent if its owner created it. */
  madeBy?: string;
  epoch: number;
  createdAt: Date;
}

/** The owner and the creator of a key. */
export interface KeyHolder {
  /** The owner's account, whose rights and credits apply. */
  user: User;
  /** The key's creator; equals `user` for a personal account. */
  person: User;
  /** The creator's role in the organization; null for a personal account. */
  role: Role | null;
  /** Maximum capabilities of a service account's keys. */
  within?: readonly string[];
}

/** Accounts of people and organizations. An organization uses the account of the owner whose tier applies, without personal data. */
export interface Accounts {
  find(id: string): Promise<User | null>;
  /** @throws NOT_FOUND */
  get(id: string): Promise<User>;
  /** Returns a service account as the creator of keys, or null if the owner has no such account. */
  ofService(owner: User, id: string): Promise<{ person: User; within: readonly string[] } | null>;
  ofOrganization(organization: OrganizationRecord): Promise<User>;
  /** Returns null if the key is invalid because its creator left the organization or lost approval. */
  holderOf(key: HeldKey): Promise<KeyHolder | null>;
}

export interface AccountsOptions {
  users: Pick<Users, "find">;
  store: Pick<OrganizationStore, "find">;
  serviceAccounts: Pick<ServiceAccountStore, "find">;
}

/** Domain of service accounts' addresses. It is reserved, so that no email can be delivered (RFC 2606). */
const SERVICE_DOMAIN = "service.invalid";
export const serviceEmail = (id: string): string => `${id}@${SERVICE_DOMAIN}`;

/** Account of an organization after the owner whose tier applied was erased. It has no rights. */
const ERASED: User = {
  id: "",
  email: "",
  role: "user",
  tier: PLANS.free.tier,
  approved: false,
  plan: PLANS.free,
  business: null,
  suspended: true,
  sessionEpoch: 0,
  keyEpoch: 0,
  revision: 0,
  secondFactor: false,
  erasesAt: null,
  createdAt: new Date(0),
};

export const createAccounts = ({ users, store, serviceAccounts }: AccountsOptions): Accounts => {
  const ofOrganization = async ({ _id, name, tierOf, erasure, createdAt, endpointEvents = [] }: OrganizationRecord): Promise<User> => {
    const person = (await users.find(tierOf)) ?? ERASED;
    return {
      ...person,
      id: _id,
      email: "",
      role: "user",
      // Only people have plan credits.
      plan: { ...person.plan, monthlyMillicredits: 0 },
      business: null,
      secondFactor: false,
      erasesAt: erasure?.erasesAt ?? null,
      createdAt,
      organization: { name, tierOf },
      endpointEvents,
    };
  };

  const find = async (id: string): Promise<User | null> => {
    const person = await users.find(id);
    if (person) return person;
    const organization = await store.find(id);
    return organization && ofOrganization(organization);
  };

  /** A service account has its owner's tier, approval and suspension. */
  const ofService: Accounts["ofService"] = async (owner, id) => {
    const account = await serviceAccounts.find(owner.id, id);
    if (!account) return null;
    const { createdAt, capabilities } = account;
    const { organization, ...standing } = owner;
    const own = { id, email: serviceEmail(id), role: "user", business: null, service: true, createdAt } as const;
    // Keys of an organization's service account stay valid when a person's keys end.
    return { person: { ...standing, ...own, keyEpoch: organization ? 0 : owner.keyEpoch }, within: capabilities };
  };

  const heldByService = async (key: HeldKey, id: string): Promise<KeyHolder | null> => {
    const owner = await find(key.userId);
    const account = owner && (await ofService(owner, id));
    if (!account || key.epoch !== account.person.keyEpoch) return null;
    return { user: { ...owner, role: "user" }, ...account, role: owner.organization ? "owner" : null };
  };

  const ofMember = async (key: HeldKey, madeBy: string): Promise<KeyHolder | null> => {
    const [organization, person] = await Promise.all([store.find(key.userId), users.find(madeBy)]);
    const member = organization && memberOf(organization, madeBy);
    // A key that was created before its creator left stays invalid after they return.
    if (!organization || !member || !person || key.createdAt < member.since || key.epoch !== person.keyEpoch) return null;
    return { user: await ofOrganization(organization), person, role: member.role };
  };

  return {
    find,
    get: async (id) => {
      const account = await find(id);
      if (!account) throw noSuchUser();
      return account;
    },
    ofService,
    ofOrganization,
    holderOf: async (key) => {
      if (key.madeBy !== undefined && key.madeBy !== key.userId) {
        return (await ofMember(key, key.madeBy)) ?? heldByService(key, key.madeBy);
      }
      const user = await users.find(key.userId);
      return user && key.epoch === user.keyEpoch ? { user, person: user, role: null } : null;
    },
  };
};
