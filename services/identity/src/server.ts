import { invalidRequest } from "@nodeloom/kernel";
import { unary } from "@nodeloom/platform";
import { identity } from "@nodeloom/proto";
import type { Addresses } from "./addresses/addresses";
import type { Audit } from "./audit/audit";
import type { Authentication } from "./keys/authentication";
import type { Erasures } from "./erasure/erasures";
import type { Keys } from "./keys/keys";
import {
  fromAuditMessage,
  fromTierMessage,
  toAuditMessage,
  toAuthenticatedMessage,
  toKeyMessage,
  toRolloutMessage,
  toSecretMessage,
  toTierMessage,
  toUserMessage,
} from "./messages";
import type { Oidc } from "./oidc/oidc";
import type { Rollouts } from "./tiers/rollouts";
import type { Tiers } from "./tiers/tiers";
import type { PasswordChanges } from "./sessions/password-changes";
import type { Secrets } from "./secrets/secrets";
import type { PendingSignIns } from "./second-factor/pending-sign-ins";
import type { SecondFactors } from "./second-factor/second-factors";
import type { SignIn } from "./sessions/sign-in";
import type { Bootstrap } from "./users/bootstrap";
import type { RunStops } from "./users/run-stops";
import type { Accounts } from "./organizations/accounts";
import type { Invitations } from "./organizations/invitations";
import type { Organizations } from "./organizations/organizations";
import type { ServiceAccounts } from "./organizations/service-accounts";
import type { EarlierAccess } from "./users/earlier-access";
import type { Users } from "./users/users";
import type { Endpoints } from "./keys/endpoints";
import { endpointHandlers } from "./keys/endpoint-server";
import type { RunSecrets } from "./keys/run-secrets";
import type { AddressProblem, Webhooks } from "./keys/webhooks";

export interface Identity {
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
  runStops: RunStops;
  tiers: Tiers;
  rollouts: Rollouts;
  keys: Keys;
  webhooks: Webhooks;
  runSecrets: RunSecrets;
  endpoints: Endpoints;
  webhookProblem: AddressProblem;
  authentication: Authentication;
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

const runStopHandlers = ({ runStops }: Identity): Pick<Server, "claimRunStop" | "finishRunStop"> => ({
  claimRunStop: unary(async (_request: identity.ClaimRunStopRequest) => {
    const stop = await runStops.claim();
    return identity.ClaimRunStopResponse.fromPartial(stop ? { stop } : {});
  }),
  finishRunStop: unary(async ({ stop }: identity.FinishRunStopRequest) => {
    if (!stop) throw invalidRequest([{ path: "stop", message: "is required" }]);
    await runStops.finish(stop);
    return identity.FinishRunStopResponse.fromPartial({});
  }),
});

type KeyMethods = "authenticateKey" | "resolveKey" | "createKey" | "listKeys" | "updateKey" | "revokeKey" | "rotateKey";

const keyHandlers = ({ keys, authentication }: Identity): Pick<Server, KeyMethods> => ({
  authenticateKey: unary(async ({ value }: identity.AuthenticateKeyRequest) =>
    toAuthenticatedMessage(await authentication.authenticate(value)),
  ),
  resolveKey: unary(async ({ userId, keyId }: identity.ResolveKeyRequest) => {
    const { key, user, effectiveCapabilities } = await authentication.resolve(userId, keyId);
    return identity.ResolveKeyResponse.fromPartial({ key: toKeyMessage(key), user: toUserMessage(user), effectiveCapabilities });
  }),
  createKey: unary(async (request: identity.CreateKeyRequest) => {
    const { userId, madeBy, name, preset, capabilities, expiresAt, alias, webhookUrl, webhookEvents, service } = request;
    if (!webhookUrl && webhookEvents.length > 0) throw invalidRequest([{ path: "webhook.url", message: "is required" }]);
    const webhook = webhookUrl ? { url: webhookUrl, events: webhookEvents } : undefined;
    const newKey = { service, madeBy: madeBy || userId, name, preset, capabilities, expiresAt, webhook };
    const issued = await keys.create(userId, { ...newKey, ...(alias === undefined ? {} : { alias }) });
    return identity.CreateKeyResponse.fromPartial({ ...issued, key: toKeyMessage(issued.key) });
  }),
  listKeys: unary(async ({ userId }: identity.ListKeysRequest) =>
    identity.ListKeysResponse.fromPartial({ keys: (await keys.list(userId)).map(toKeyMessage) }),
  ),
  updateKey: unary(async ({ userId, madeBy, keyId, name, capabilities, metadata, alias }: identity.UpdateKeyRequest) => {
    const { key, warnings } = await keys.edit({ userId, madeBy }, keyId, {
      ...(name === undefined ? {} : { name }),
      ...(capabilities ? { capabilities: capabilities.capabilities } : {}),
      ...(metadata ? { metadata: metadata.values } : {}),
      ...(alias === undefined ? {} : { alias }),
    });
    return identity.UpdateKeyResponse.fromPartial({ key: toKeyMessage(key), warnings });
  }),
  revokeKey: unary(async ({ userId, madeBy, keyId }: identity.RevokeKeyRequest) => {
    await keys.revoke({ userId, madeBy }, keyId);
    return identity.RevokeKeyResponse.fromPartial({});
  }),
  rotateKey: unary(async ({ userId, madeBy, keyId, graceSeconds }: identity.RotateKeyRequest) => {
    const issued = await keys.rotate({ userId, madeBy }, keyId, graceSeconds);
    return identity.RotateKeyResponse.fromPartial({ ...issued, key: toKeyMessage(issued.key) });
  }),
});

type RunSecretMethods = "checkWebhookAddress" | "getRunSecret" | "rotateRunSecret";

const runSecretHandlers = ({ runSecrets, webhookProblem }: Identity): Pick<Server, RunSecretMethods> => ({
  checkWebhookAddress: unary(async ({ url }: identity.CheckWebhookAddressRequest) =>
    identity.CheckWebhookAddressResponse.fromPartial({ problem: await webhookProblem(url) }),
  ),
  getRunSecret: unary(async ({ ownerId }: identity.GetRunSecretRequest) =>
    identity.GetRunSecretResponse.fromPartial(await runSecrets.current(ownerId)),
  ),
  rotateRunSecret: unary(async ({ ownerId }: identity.RotateRunSecretRequest) =>
    identity.RotateRunSecretResponse.fromPartial(await runSecrets.rotate(ownerId)),
  ),
});

type WebhookMethods = "setKeyWebhook" | "deleteKeyWebhook" | "getWebhookTarget" | "disableWebhook" | "reportDelivery";

const webhookHandlers = ({ webhooks, runSecrets, endpoints }: Identity): Pick<Server, WebhookMethods> => ({
  setKeyWebhook: unary(async ({ userId, madeBy, keyId, url, events }: identity.SetKeyWebhookRequest) => {
    const { key, secret } = await webhooks.set({ userId, madeBy }, keyId, { url, events });
    return identity.SetKeyWebhookResponse.fromPartial({ key: toKeyMessage(key), webhookSecret: secret });
  }),
  deleteKeyWebhook: unary(async ({ userId, madeBy, keyId }: identity.DeleteKeyWebhookRequest) =>
    identity.DeleteKeyWebhookResponse.fromPartial({ key: toKeyMessage(await webhooks.remove({ userId, madeBy }, keyId)) }),
  ),
  getWebhookTarget: unary(async ({ keyId, userId, madeBy, runOf, endpoint }: identity.GetWebhookTargetRequest) => {
    if (endpoint) return identity.GetWebhookTargetResponse.fromPartial(await endpoints.target(endpoint));
    if (runOf !== undefined) return identity.GetWebhookTargetResponse.fromPartial({ secrets: await runSecrets.signing(runOf) });
    const of = userId === undefined ? undefined : { userId, madeBy };
    return identity.GetWebhookTargetResponse.fromPartial(await webhooks.target(keyId, of));
  }),
  disableWebhook: unary(async ({ reason, endpoint, ...settings }: identity.DisableWebhookRequest) =>
    identity.DisableWebhookResponse.fromPartial({
      disabled: endpoint ? await endpoints.disable({ ...settings, ...endpoint }, reason) : await webhooks.disable(settings, reason),
    }),
  ),
  reportDelivery: unary(async ({ at = new Date(), endpoint, ...report }: identity.ReportDeliveryRequest) =>
    identity.ReportDeliveryResponse.fromPartial({
      disabled: endpoint ? await endpoints.report({ ...report, at, ...endpoint }) : await webhooks.report({ ...report, at }),
    }),
  ),
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

const rolloutHandlers = ({ rollouts }: Identity): Pick<Server, "claimTierRollout" | "advanceTierRollout"> => ({
  claimTierRollout: unary(async (_request: identity.ClaimTierRolloutRequest) => {
    const rollout = await rollouts.claim();
    return identity.ClaimTierRolloutResponse.fromPartial({ rollout: rollout ? toRolloutMessage(rollout) : undefined });
  }),
  advanceTierRollout: unary(async ({ rollout, finished }: identity.AdvanceTierRolloutRequest) => {
    if (!rollout) throw invalidRequest([{ path: "rollout", message: "is required" }]);
    return identity.AdvanceTierRolloutResponse.fromPartial({ claimed: await rollouts.advance(rollout, finished) });
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
      hosts: Object.fromEntries(values.map(({ name, hosts }) => [name, { hosts }])),
    });
  }),
});

export const identityHandlers = (services: Identity): Server => ({
  ...userHandlers(services),
  ...sessionHandlers(services),
  ...runStopHandlers(services),
  ...keyHandlers(services),
  ...webhookHandlers(services),
  ...runSecretHandlers(services),
  ...endpointHandlers(services.endpoints),
  ...tierHandlers(services),
  ...rolloutHandlers(services),
  ...auditHandlers(services),
  ...secretHandlers(services),
});
