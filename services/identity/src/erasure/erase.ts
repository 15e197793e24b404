import { createErasure, removeSome, untilNone, type Erase, type RemovedPage } from "@nodeloom/platform";
import type { Connection } from "mongoose";
import { withoutMember } from "../organizations/members";
import type { OrganizationStore } from "../organizations/organization-store";
import type { AuditRecord, UserRecord } from "../records";

const PAGE = 500;
/** The one action whose target is a user's own text. */
const SECRET_ACTIONS = /^secret\./;

/** What identity erases of an account. Its user is the mark that it is being erased, and goes last. @param connection has the models */
export const createEraseIdentity = (connection: Connection, organizations: Pick<OrganizationStore, "listOf" | "change">): Erase => {
  const { User, Key, Secret, KnownAddress, PendingSignIn, RunStop, OidcIdentity, OidcSignIn, Audit } = connection.models;
  const some = async (model: typeof User, filter: object): Promise<RemovedPage> =>
    untilNone(await removeSome(model as never, filter, PAGE));

  const knownAddresses = async (userId: string): Promise<RemovedPage> => {
    const user = await User!.findById(userId, { erasure: 1 }).lean<Pick<UserRecord, "erasure">>().exec();
    const account = user?.erasure?.knownAs;
    return account ? some(KnownAddress, { account }) : untilNone(0);
  };

  /** Rows keep who did what to whom, by their ids. */
  const emptyAudit = async (userId: string): Promise<RemovedPage> => {
    const audit = Audit as unknown as import("mongoose").Model<AuditRecord>;
    const texts = { changeJson: "", beforeJson: "", afterJson: "" };
    const hasTexts = { $or: Object.keys(texts).map((name) => ({ [name]: { $ne: "" } })) };
    const about = await audit.updateMany({ target: userId, ...hasTexts }, { $set: texts });
    const own = { actorId: userId, action: SECRET_ACTIONS, target: { $ne: "" } };
    const secrets = await audit.updateMany(own, { $set: { ...texts, target: "" } });
    return { removed: about.modifiedCount + secrets.modifiedCount, next: "" };
  };

  /** One that was changed meanwhile is found again. */
  const leaveOrganizations = async (userId: string): Promise<RemovedPage> => {
    const left = await organizations.listOf(userId);
    for (const organization of left) await organizations.change(organization, withoutMember(organization, userId));
    return untilNone(left.length);
  };

  return createErasure<"identity">((userId) => ({
    organizations: () => leaveOrganizations(userId),
    keys: () => some(Key, { $or: [{ userId }, { madeBy: userId }] }),
    secrets: () => some(Secret, { owner: userId }),
    "known-addresses": () => knownAddresses(userId),
    "pending-sign-ins": () => some(PendingSignIn, { userId }),
    "run-stops": () => some(RunStop, { userId }),
    "oidc-identities": () => some(OidcIdentity, { userId }),
    "oidc-sign-ins": () => some(OidcSignIn, { "linking.userId": userId }),
    audit: () => emptyAudit(userId),
  }));
};
