import { invalidRequest } from "@nodeloom/kernel";
import { unary } from "@nodeloom/platform";
import { identity } from "@nodeloom/proto";
import type { Addresses } from "../addresses/addresses";
import type { ListApprovers } from "../addresses/approvers";
import type { Audit } from "../audit/audit";
import type { Erasures } from "../erasure/erasures";
import { keyRoomHandlers, type KeyServices } from "./keys";
import { fromAuditMessage, fromTierMessage, toAuditMessage, toSecretMessage, toTierMessage, toUserMessage } from "./messages";
import type { Oidc } from "../oidc/oidc";
import type { Tiers } from "../tiers/tiers";
import type { PasswordChanges } from "../sessions/password-changes";
import type { Secrets } from "../secrets/secrets";
import type { PendingSignIns } from "../sign-in/pending-sign-ins";
import type { SecondFactors } from "../second-factor/second-factors";
import type { SignIn } from "../sign-in/sign-in";
import type { Bootstrap } from "../users/bootstrap";
import type { RunStops } from "../users/run-stops";
import type { Accounts } from "../organizations/accounts";
import type { Invitations } from "../organizations/invitations";
import type { Organizations } from "../organizations/organizations";
import type { ServiceAccounts } from "../keys/service-accounts";
import type { EarlierAccess } from "../organizations/earlier-access";
import type { Users } from "../users/users";

export interface Identity extends KeyServices {
  earlierAccess: EarlierAccess;
  users: Users;
  accounts: Accounts;
  organizations: Organizations;
  invitations: Invitations;
  serviceAccounts: ServiceAccounts;
  bootstrap: Bootstrap;
  signIn: SignIn;
  pendingSignIns: PendingSignIns;
  secondFactors: SecondFactors;
  oidc: Oidc;
  passwordChanges: PasswordChanges;
  addresses: Addresses;
  listApprovers: ListApprovers;
  runStops: RunStops;
  tiers: Tiers;
  audit: Audit;
  secrets: Secrets;
  erasures: Erasures;
}

type Server = identity.IdentityServiceServer;

const userHandlers = ({ users, accounts, earlierAccess }: Identity): Pick<Server, "getUser" | "listUsers" | "updateUser"> => ({
  getUser: unary(async ({ userId, grant }: identity.GetUserRequest) => {
    if (grant) await earlierAccess.require(userId, { personId: grant.personId, at: grant.at ?? new Date(0) });
    return identity.GetUserResponse.fromPartial({ user: toUserMessage(await accounts.get(userId)) });
  }),
  listUsers: unary(async (request: identity.ListUsersRequest) => {
    const page = await users.list(request);
    return identity.ListUsersResponse.fromPartial({ users: page.users.map(toUserMessage), nextCursor: page.nextCursor });
  }),
  updateUser: unary(async ({ userId, business, ...update }: identity.UpdateUserRequest) => {
    const { before, after } = await users.update(userId, { ...update, ...(business ? { business: business.business ?? null } : {}) });
    return identity.UpdateUserResponse.fromPartial({ user: toUserMessage(after), before: toUserMessage(before) });
  }),
});

type SessionMethods = "register" | "login" | "changePassword" | "endSessions" | "createPasswordReset" | "redeemPasswordReset";

const sessionHandlers = ({ signIn, passwordChanges }: Identity): Pick<Server, SessionMethods> => ({
  register: unary(async ({ address = "", ...credentials }: identity.RegisterRequest) =>
    identity.RegisterResponse.fromPartial({ user: toUserMessage(await signIn.register({ ...credentials, address })) }),
  ),
  login: unary(async ({ address = "", ...credentials }: identity.LoginRequest) => {
    const result = await signIn.login({ ...credentials, address });
    return identity.LoginResponse.fromPartial("user" in result ? { user: toUserMessage(result.user) } : { pending: result.pending });
  }),
  changePassword: unary(async ({ userId, currentPassword, newPassword, address = "" }: identity.ChangePasswordRequest) => {
    const user = await passwordChanges.change({ userId, current: currentPassword, next: newPassword, address });
    return identity.ChangePasswordResponse.fromPartial({ user: toUserMessage(user) });
  }),
  endSessions: unary(async ({ userId }: identity.EndSessionsRequest) =>
    identity.EndSessionsResponse.fromPartial({ user: toUserMessage(await passwordChanges.endSessions(userId)) }),
  ),
  createPasswordReset: unary(async ({ userId }: identity.CreatePasswordResetRequest) =>
    identity.CreatePasswordResetResponse.fromPartial(await passwordChanges.createReset(userId)),
  ),
  redeemPasswordReset: unary(async ({ token, newPassword, address = "" }: identity.RedeemPasswordResetRequest) => {
    const user = await passwordChanges.redeemReset({ token, next: newPassword, address });
    return identity.RedeemPasswordResetResponse.fromPartial({ user: toUserMessage(user) });
  }),
});

const runStopHandlers = ({ runStops }: Identity): Pick<Server, "claimRunStop" | "listRunStops" | "finishRunStop"> => ({
  claimRunStop: unary(async (_request: identity.ClaimRunStopRequest) => identity.ClaimRunStopResponse.fromPartial({})),
  listRunStops: unary(async (_request: identity.ListRunStopsRequest) =>
    identity.ListRunStopsResponse.fromPartial({ stops: await runStops.list() }),
  ),
  finishRunStop: unary(async ({ stop }: identity.FinishRunStopRequest) => {
    if (!stop) throw invalidRequest([{ path: "stop", message: "is required" }]);
    await runStops.finish(stop.id);
    return identity.FinishRunStopResponse.fromPartial({});
  }),
});

const tierHandlers = ({ tiers }: Identity): Pick<Server, "listTiers" | "putTier" | "deleteTier"> => ({
  listTiers: unary(async (_request: identity.ListTiersRequest) =>
    identity.ListTiersResponse.fromPartial({ tiers: (await tiers.list()).map(toTierMessage) }),
  ),
  putTier: unary(async ({ tier }: identity.PutTierRequest) => {
    const stored = await tiers.put(fromTierMessage(tier ?? identity.Tier.fromPartial({})));
    return identity.PutTierResponse.fromPartial({ tier: toTierMessage(stored) });
  }),
  deleteTier: unary(async ({ id }: identity.DeleteTierRequest) => {
    await tiers.remove(id);
    return identity.DeleteTierResponse.fromPartial({});
  }),
});

const rolloutHandlers = ({ tiers }: Identity): Pick<Server, "claimTierRollout" | "listTierRollouts" | "advanceTierRollout"> => ({
  claimTierRollout: unary(async (_request: identity.ClaimTierRolloutRequest) => identity.ClaimTierRolloutResponse.fromPartial({})),
  listTierRollouts: unary(async (_request: identity.ListTierRolloutsRequest) =>
    identity.ListTierRolloutsResponse.fromPartial({ rollouts: await tiers.rollouts() }),
  ),
  advanceTierRollout: unary(async ({ rollout, finished }: identity.AdvanceTierRolloutRequest) => {
    if (!rollout) throw invalidRequest([{ path: "rollout", message: "is required" }]);
    return identity.AdvanceTierRolloutResponse.fromPartial({ claimed: await tiers.advanceRollout(rollout, finished) });
  }),
});

type AuditMethods = "recordAudit" | "listAudit" | "removeExpired" | "getAuditRow" | "listUnannouncedAudit" | "noteAnnouncedAudit";

const auditHandlers = ({ audit }: Identity): Pick<Server, AuditMethods> => ({
  removeExpired: unary(async ({ cursor }: identity.RemoveExpiredRequest) =>
    identity.RemoveExpiredResponse.fromPartial(await audit.removeExpired(cursor)),
  ),
  recordAudit: unary(async ({ row }: identity.RecordAuditRequest) => {
    const stored = await audit.record(fromAuditMessage(row ?? identity.AuditRow.fromPartial({})));
    return identity.RecordAuditResponse.fromPartial({ row: toAuditMessage(stored) });
  }),
  getAuditRow: unary(async ({ ownerId, id }: identity.GetAuditRowRequest) => ({ row: toAuditMessage(await audit.find(ownerId, id)) })),
  listUnannouncedAudit: unary(async ({ limit }: identity.ListUnannouncedAuditRequest) => ({
    rows: (await audit.unannounced(limit)).map(toAuditMessage),
  })),
  noteAnnouncedAudit: unary(async ({ ids }: identity.NoteAnnouncedAuditRequest) => {
    await audit.noteAnnounced(ids);
    return {};
  }),
  listAudit: unary(async (request: identity.ListAuditRequest) => {
    const { rows, nextCursor } = await audit.list(request);
    return identity.ListAuditResponse.fromPartial({ rows: rows.map(toAuditMessage), nextCursor });
  }),
});

const secretHandlers = ({ secrets }: Identity): Pick<Server, "listSecrets" | "putSecret" | "deleteSecret" | "readSecrets"> => ({
  listSecrets: unary(async ({ owner }: identity.ListSecretsRequest) =>
    identity.ListSecretsResponse.fromPartial({
      secrets: (await secrets.list(owner)).map(toSecretMessage),
      configured: secrets.isConfigured,
    }),
  ),
  putSecret: unary(async (request: identity.PutSecretRequest) =>
    identity.PutSecretResponse.fromPartial({ secret: toSecretMessage(await secrets.put(request)) }),
  ),
  deleteSecret: unary(async ({ owner, name, alias }: identity.DeleteSecretRequest) => {
    const removed = await secrets.remove(owner, name, alias);
    return identity.DeleteSecretResponse.fromPartial(removed ? { secret: toSecretMessage(removed) } : {});
  }),
  readSecrets: unary(async ({ owner, names, alias }: identity.ReadSecretsRequest) => {
    const values = await secrets.read(owner, names, alias);
    return identity.ReadSecretsResponse.fromPartial({
      values: Object.fromEntries(values.map(({ name, value }) => [name, value])),
      hosts: Object.fromEntries(values.map(({ name, hosts, workflows = [] }) => [name, { hosts, workflows }])),
    });
  }),
});

export const identityHandlers = (services: Identity): Server => ({
  ...userHandlers(services),
  ...sessionHandlers(services),
  ...runStopHandlers(services),
  ...keyRoomHandlers(services),
  ...tierHandlers(services),
  ...rolloutHandlers(services),
  ...auditHandlers(services),
  ...secretHandlers(services),
});
