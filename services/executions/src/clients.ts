import { createGrpcClient, type ClientOf, type TlsConfig } from "@nodeloom/platform";
import {
  accountErasure,
  addresses,
  billing,
  erasure,
  identity,
  media,
  mediaExports,
  models,
  notifications,
  transform,
  triggers,
  usage,
  workflows,
} from "@nodeloom/proto";

export type AccountErasure = ClientOf<accountErasure.AccountErasureServiceServer>;
/** Client of identity's address service. */
export type EmailAddresses = ClientOf<addresses.AddressServiceServer>;
export type Erasure = ClientOf<erasure.ErasureServiceServer>;
export type MediaExports = ClientOf<mediaExports.ExportsServiceServer>;
export type Billing = ClientOf<billing.BillingServiceServer>;
export type Identity = ClientOf<identity.IdentityServiceServer>;
export type Media = ClientOf<media.MediaServiceServer>;
export type Models = ClientOf<models.ModelsServiceServer>;
export type Notifications = ClientOf<notifications.NotificationsServiceServer>;
export type Transform = ClientOf<transform.TransformServiceServer>;
export type Triggers = ClientOf<triggers.TriggersServiceServer>;
export type Usage = ClientOf<usage.UsageServiceServer>;
export type Workflows = ClientOf<workflows.WorkflowsServiceServer>;

type Peer = "WORKFLOWS" | "MODELS" | "BILLING" | "USAGE" | "IDENTITY" | "MEDIA" | "TRANSFORM" | "TRIGGERS" | "NOTIFICATIONS";
type Locations = Readonly<Record<`${Peer}_ADDRESS`, string>>;

export const connectServices = (config: Locations & TlsConfig) => {
  const connect = <S>(service: Parameters<typeof createGrpcClient>[0], address: string) =>
    createGrpcClient<S>(service, { address, tls: config });
  return {
    workflows: connect<workflows.WorkflowsServiceServer>(workflows.WorkflowsServiceService, config.WORKFLOWS_ADDRESS),
    models: connect<models.ModelsServiceServer>(models.ModelsServiceService, config.MODELS_ADDRESS),
    billing: connect<billing.BillingServiceServer>(billing.BillingServiceService, config.BILLING_ADDRESS),
    usage: connect<usage.UsageServiceServer>(usage.UsageServiceService, config.USAGE_ADDRESS),
    identity: connect<identity.IdentityServiceServer>(identity.IdentityServiceService, config.IDENTITY_ADDRESS),
    addresses: connect<addresses.AddressServiceServer>(addresses.AddressServiceService, config.IDENTITY_ADDRESS),
    media: connect<media.MediaServiceServer>(media.MediaServiceService, config.MEDIA_ADDRESS),
    mediaExports: connect<mediaExports.ExportsServiceServer>(mediaExports.ExportsServiceService, config.MEDIA_ADDRESS),
    accountErasure: connect<accountErasure.AccountErasureServiceServer>(
      accountErasure.AccountErasureServiceService,
      config.IDENTITY_ADDRESS,
    ),
    notifications: connect<notifications.NotificationsServiceServer>(
      notifications.NotificationsServiceService,
      config.NOTIFICATIONS_ADDRESS,
    ),
    transform: connect<transform.TransformServiceServer>(transform.TransformServiceService, config.TRANSFORM_ADDRESS),
    triggers: connect<triggers.TriggersServiceServer>(triggers.TriggersServiceService, config.TRIGGERS_ADDRESS),
  };
};

export type Services = ReturnType<typeof connectServices>;

/** Clients of the services that erase data, in the order of erasure. */
export const connectErasures = (config: Locations & TlsConfig) => {
  const connect = (address: string) =>
    createGrpcClient<erasure.ErasureServiceServer>(erasure.ErasureServiceService, { address, tls: config });
  return {
    triggers: connect(config.TRIGGERS_ADDRESS),
    media: connect(config.MEDIA_ADDRESS),
    workflows: connect(config.WORKFLOWS_ADDRESS),
    usage: connect(config.USAGE_ADDRESS),
    billing: connect(config.BILLING_ADDRESS),
    notifications: connect(config.NOTIFICATIONS_ADDRESS),
    identity: connect(config.IDENTITY_ADDRESS),
  };
};
