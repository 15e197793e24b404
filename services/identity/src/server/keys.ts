import { invalidRequest } from "@nodeloom/kernel";
import { unary } from "@nodeloom/platform";
import { identity } from "@nodeloom/proto";
import { fromKeyRequestMessage, toAuthenticatedMessage, toDeletedKeyMessage, toKeyMessage, toUserMessage } from "./messages";
import type { Authentication } from "../keys/authentication";
import { endpointHandlers } from "./endpoints";
import type { Endpoints } from "../keys/endpoints";
import type { KeyRequests } from "../keys/key-requests";
import type { Keys } from "../keys/keys";
import type { RunSecrets } from "../keys/run-secrets";
import type { AddressProblem, Webhooks } from "../keys/webhooks";

/** Maximum ids in one request: the rows of a page. */
const MAX_KEY_IDS = 1_000;

type Server = identity.IdentityServiceServer;

export interface KeyServices {
  keys: Keys;
  keyRequests: KeyRequests;
  webhooks: Webhooks;
  runSecrets: RunSecrets;
  endpoints: Endpoints;
  webhookProblem: AddressProblem;
  authentication: Authentication;
}

type KeyMethods = "authenticateKey" | "resolveKey" | "createKey" | "listKeys" | "updateKey" | "revokeKey" | "rotateKey";

const keyHandlers = ({ keys, authentication }: KeyServices): Pick<Server, KeyMethods> => ({
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
  listKeys: unary(async ({ userId, withDeleted = false, selection }: identity.ListKeysRequest) => {
    const keyIds = selection?.keyIds;
    if (keyIds && keyIds.length > MAX_KEY_IDS)
      throw invalidRequest([{ path: "selection.keyIds", message: `at most ${MAX_KEY_IDS} are allowed` }]);
    const deletedKeys = withDeleted ? await keys.listDeleted(userId, keyIds) : [];
    const messages = [...(await keys.list(userId, keyIds)).map(toKeyMessage), ...deletedKeys.map(toDeletedKeyMessage)];
    return identity.ListKeysResponse.fromPartial({ keys: messages });
  }),
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

const MAX_STATUS = 999;

const keyRequestHandlers = ({ keyRequests }: KeyServices): Pick<Server, "recordKeyRequests" | "listKeyRequests"> => ({
  recordKeyRequests: unary(async ({ requests }: identity.RecordKeyRequestsRequest) => {
    await keyRequests.record(requests.map(fromKeyRequestMessage));
    return {};
  }),
  listKeyRequests: unary(async (request: identity.ListKeyRequestsRequest) => {
    const { userId, madeBy, keyId, leastStatus, mostStatus, limit, cursor } = request;
    const statuses = [leastStatus, mostStatus || MAX_STATUS] as const;
    const { rows, nextCursor } = await keyRequests.list({ userId, madeBy }, { keyId, statuses, limit, cursor });
    return identity.ListKeyRequestsResponse.fromPartial({ requests: rows.map(({ _id, userId: _userId, ...row }) => row), nextCursor });
  }),
});

type RunSecretMethods = "checkWebhookAddress" | "getRunSecret" | "rotateRunSecret";

const runSecretHandlers = ({ runSecrets, webhookProblem }: KeyServices): Pick<Server, RunSecretMethods> => ({
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

const webhookHandlers = ({ webhooks, runSecrets, endpoints }: KeyServices): Pick<Server, WebhookMethods> => ({
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

/** Handlers for keys, their webhooks, webhook endpoints and signing secrets. */
export const keyRoomHandlers = (services: KeyServices) => ({
  ...keyHandlers(services),
  ...keyRequestHandlers(services),
  ...webhookHandlers(services),
  ...runSecretHandlers(services),
  ...endpointHandlers(services.endpoints),
});
