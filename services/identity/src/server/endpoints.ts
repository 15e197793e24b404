import { invalidRequest } from "@nodeloom/kernel";
import { unary } from "@nodeloom/platform";
import { identity } from "@nodeloom/proto";
import type { EndpointRecord } from "../keys/records";
import type { EndpointId } from "../keys/endpoint-store";
import type { Endpoints, WithSecret } from "../keys/endpoints";

type EndpointMethods =
  "listWebhookEndpoints" | "createWebhookEndpoint" | "updateWebhookEndpoint" | "rotateWebhookEndpointSecret" | "deleteWebhookEndpoint";

const endpointMessage = ({ id, url, events, description, ...rest }: EndpointRecord): identity.WebhookEndpoint =>
  identity.WebhookEndpoint.fromPartial({
    ...{ id, url, events, description, disabledReason: rest.disabledReason, createdAt: rest.createdAt, updatedAt: rest.updatedAt },
    disabledAt: rest.disabledAt ?? undefined,
  });
const withSecret = ({ endpoint, secret }: WithSecret): identity.CreateWebhookEndpointResponse => ({
  endpoint: endpointMessage(endpoint),
  secret,
});

const idOf = (endpoint: EndpointId | undefined): EndpointId => {
  if (!endpoint) throw invalidRequest([{ path: "endpoint", message: "is required" }]);
  return endpoint;
};

/** Endpoint methods of the identity service. */
export const endpointHandlers = (endpoints: Endpoints): Pick<identity.IdentityServiceServer, EndpointMethods> => ({
  listWebhookEndpoints: unary(async ({ ownerId }: identity.ListWebhookEndpointsRequest) => ({
    endpoints: (await endpoints.list(ownerId)).map(endpointMessage),
  })),
  createWebhookEndpoint: unary(async ({ ownerId, byOwner = false, ...endpoint }: identity.CreateWebhookEndpointRequest) =>
    withSecret(await endpoints.create(ownerId, endpoint, byOwner)),
  ),
  updateWebhookEndpoint: unary(async ({ endpoint, events, byOwner = false, ...edit }: identity.UpdateWebhookEndpointRequest) => ({
    endpoint: endpointMessage(await endpoints.edit(idOf(endpoint), { ...edit, events: events?.events }, byOwner)),
  })),
  rotateWebhookEndpointSecret: unary(async ({ endpoint, byOwner = false }: identity.RotateWebhookEndpointSecretRequest) =>
    withSecret(await endpoints.rotate(idOf(endpoint), byOwner)),
  ),
  deleteWebhookEndpoint: unary(async ({ endpoint, byOwner = false }: identity.DeleteWebhookEndpointRequest) => {
    await endpoints.remove(idOf(endpoint), byOwner);
    return {};
  }),
});
