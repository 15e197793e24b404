import { UUID } from "@nodeloom/kernel";
import { createErasure, removeSome, untilNone, type AccountKeys, type Erase, type RemovedPage } from "@nodeloom/platform";
import type { Connection } from "mongoose";
import { erasedOrganization } from "./organization-erasures";
import { withoutMember, withRole } from "../organizations/members";
import type { OrganizationChange, OrganizationStore } from "../organizations/organization-store";
import type { OrganizationRecord } from "../organizations/records";
import type { AuditRecord, UserRecord } from "../records";
import { newErasure } from "./erasure-store";

const PAGE = 500;
/** A hook's signing secret is removed with the hook, or here if that failed. */
const HOOK = /^hook:/;
/** Matches targets that contain the account's own text, such as a key's name or a slug, instead of an id. */
const NO_ID = { $nin: [UUID, ""] };
/** Actions whose older rows have no owner. */
const SECRET_ACTIONS = /^secret\./;

/**
 * Removes a person from an organization. If the person is the only owner, the other member of longest standing becomes owner. An
 * organization without other members is erased.
 */
const withoutPerson = (organization: OrganizationRecord, personId: string): OrganizationChange => {
  const others = organization.members.filter((member) => member.personId !== personId);
  const now = new Date();
  if (others.length === 0) return erasedOrganization(organization._id, newErasure(now, now), now);
  const heir = others.some(({ role }) => role === "owner") ? undefined : others[0];
  return withoutMember(heir ? { ...organization, ...withRole(organization, heir.personId, "owner") } : organization, personId);
};

/**
 * Erases an account's data in identity. The user or organization marks the erasure, so its document is removed last.
 * @param connection a connection that has the models
 */
export const createEraseIdentity = (
  connection: Connection,
  organizations: Pick<OrganizationStore, "listOf" | "change">,
  redisKeys: AccountKeys,
): Erase => {
  const {
    User,
    Key,
    DeletedKey,
    KeyRequest,
    ServiceAccount,
    Secret,
    KnownAddress,
    PendingSignIn,
    RunSecret,
    RunStop,
    OidcIdentity,
    OidcSignIn,
    Audit,
    WebhookEndpoints,
  } = connection.models;
  const some = async (model: typeof User, filter: object): Promise<RemovedPage> =>
    untilNone(await removeSome(model as never, filter, PAGE));

  const knownAddresses = async (userId: string): Promise<RemovedPage> => {
    const user = await User!.findById(userId, { erasure: 1 }).lean<Pick<UserRecord, "erasure">>().exec();
    const { knownAs: account, begunAt } = user?.erasure ?? {};
    // The address may belong to a newer account.
    return account && begunAt ? some(KnownAddress, { account, at: { $lt: begunAt } }) : untilNone(0);
  };

  /** Rows keep only ids. */
  const emptyAudit = async (userId: string): Promise<RemovedPage> => {
    const audit = Audit as unknown as import("mongoose").Model<AuditRecord>;
    const texts = { changeJson: "", beforeJson: "", afterJson: "" };
    const hasTexts = { $or: Object.keys(texts).map((name) => ({ [name]: { $ne: "" } })) };
    const about = { $or: [{ target: userId }, { ownerId: userId }] };
    const emptied = await audit.updateMany({ $and: [about, hasTexts] }, { $set: texts });
    const own = { ownerId: userId, target: NO_ID };
    const ownSecrets = { actorId: userId, action: SECRET_ACTIONS, target: { $ne: "" }, ownerId: { $in: [null, ""] } };
    const renamedRows = await audit.updateMany({ $or: [own, ownSecrets] }, { $set: { ...texts, target: "" } });
    const addresses = await audit.updateMany({ actorId: userId, ip: { $exists: true } }, { $unset: { ip: "" } });
    return { removed: emptied.modifiedCount + renamedRows.modifiedCount + addresses.modifiedCount, next: "" };
  };

  const eraseRequests = async (userId: string): Promise<RemovedPage> => {
    const ofAccount = { $or: [{ userId }, { madeBy: userId }] };
    const models = [Key!, DeletedKey!];
    const ids = await Promise.all(models.map((model) => model.find(ofAccount, { _id: 1 }).lean<{ _id: string }[]>().exec()));
    return some(KeyRequest!, { keyId: { $in: ids.flat().map(({ _id }) => _id) } });
  };

  /** If an organization is changed concurrently, the next page finds it again. */
  const leaveOrganizations = async (userId: string): Promise<RemovedPage> => {
    const organizationsOf = await organizations.listOf(userId);
    for (const organization of organizationsOf) await organizations.change(organization, withoutPerson(organization, userId));
    return untilNone(organizationsOf.length);
  };

  return createErasure<"identity">(
    (userId) => ({
      organizations: () => leaveOrganizations(userId),
      "service-accounts": () => some(ServiceAccount!, { ownerId: userId }),
      // Before the keys, whose ids it needs.
      "key-requests": () => eraseRequests(userId),
      keys: () => some(Key, { $or: [{ userId }, { madeBy: userId }] }),
      "deleted-keys": () => some(DeletedKey!, { $or: [{ userId }, { madeBy: userId }] }),
      secrets: () => some(Secret, { $or: [{ owner: userId }, { owner: HOOK, setBy: userId }] }),
      "known-addresses": () => knownAddresses(userId),
      "pending-sign-ins": () => some(PendingSignIn, { userId }),
      "run-secrets": () => some(RunSecret, { _id: userId }),
      "webhook-endpoints": () => some(WebhookEndpoints, { _id: userId }),
      "run-stops": () => some(RunStop, { userId }),
      "oidc-identities": () => some(OidcIdentity, { userId }),
      "oidc-sign-ins": () => some(OidcSignIn, { "linking.userId": userId }),
      audit: () => emptyAudit(userId),
    }),
    (userId) => ({
      sessions: async () => ({ removed: await redisKeys.removeSessions(userId), next: "" }),
      answers: async () => ({ removed: await redisKeys.removeAnswers(userId), next: "" }),
    }),
  );
};
