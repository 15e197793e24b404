import { createGrpcClient, type Checks, type ClientOf, type TlsConfig } from "@nodeloom/platform";
import {
  accountErasure,
  accountExports,
  addresses,
  batches,
  billing,
  bundles,
  erasures,
  executions,
  identity,
  media,
  mediaExports,
  models,
  notifications,
  organizations,
  payments,
  signIn,
  triggers,
  usage,
  workflows,
} from "@nodeloom/proto";
import { createHealthProbe } from "./health";

export interface Services {
  identity: ClientOf<identity.IdentityServiceServer>;
  organizations: ClientOf<organizations.OrganizationsServiceServer>;
  signIn: ClientOf<signIn.SignInServiceServer>;
  addresses: ClientOf<addresses.AddressServiceServer>;
  accountErasure: ClientOf<accountErasure.AccountErasureServiceServer>;
  workflows: ClientOf<workflows.WorkflowsServiceServer>;
  models: ClientOf<models.ModelsServiceServer>;
  billing: ClientOf<billing.BillingServiceServer>;
  payments: ClientOf<payments.PaymentsServiceServer>;
  usage: ClientOf<usage.UsageServiceServer>;
  executions: ClientOf<executions.ExecutionsServiceServer>;
  triggers: ClientOf<triggers.TriggersServiceServer>;
  batches: ClientOf<batches.BatchesServiceServer>;
  notifications: ClientOf<notifications.NotificationsServiceServer>;
  bundles: ClientOf<bundles.BundlesServiceServer>;
  erasures: ClientOf<erasures.ErasuresServiceServer>;
  accountExports: ClientOf<accountExports.AccountExportsServiceServer>;
  media: ClientOf<media.MediaServiceServer>;
  mediaExports: ClientOf<mediaExports.ExportsServiceServer>;
}

const DEFINITIONS = {
  identity: identity.IdentityServiceService,
  workflows: workflows.WorkflowsServiceService,
  models: models.ModelsServiceService,
  billing: billing.BillingServiceService,
  usage: usage.UsageServiceService,
  executions: executions.ExecutionsServiceService,
  triggers: triggers.TriggersServiceService,
  media: media.MediaServiceService,
  notifications: notifications.NotificationsServiceService,
} as const;

export type ServiceName = keyof typeof DEFINITIONS;
export type Addresses = Readonly<Record<ServiceName, string>>;

const BESIDE = {
  signIn: { definition: signIn.SignInServiceService, by: "identity" },
  organizations: { definition: organizations.OrganizationsServiceService, by: "identity" },
  addresses: { definition: addresses.AddressServiceService, by: "identity" },
  accountErasure: { definition: accountErasure.AccountErasureServiceService, by: "identity" },
  payments: { definition: payments.PaymentsServiceService, by: "billing" },
  batches: { definition: batches.BatchesServiceService, by: "executions" },
  bundles: { definition: bundles.BundlesServiceService, by: "executions" },
  erasures: { definition: erasures.ErasuresServiceService, by: "executions" },
  accountExports: { definition: accountExports.AccountExportsServiceService, by: "executions" },
  mediaExports: { definition: mediaExports.ExportsServiceService, by: "media" },
} as const;

export interface Connections {
  services: Services;
  checks: Checks;
  close(): void;
}

/** Clients of all services. They connect at the first call. */
export const connectServices = (at: Addresses, tls: TlsConfig): Connections => {
  const names = Object.keys(DEFINITIONS) as ServiceName[];
  const all = [
    ...names.map((name) => ({ name, definition: DEFINITIONS[name], by: name })),
    ...Object.entries(BESIDE).map(([name, { definition, by }]) => ({ name, definition, by })),
  ];
  const clients = all.map(({ name, definition, by }) => [name, createGrpcClient<object>(definition, { address: at[by], tls })] as const);
  const probes = names.map((name) => createHealthProbe({ address: at[name], tls }));
  return {
    services: Object.fromEntries(clients) as unknown as Services,
    checks: Object.fromEntries(names.map((name, index) => [name, probes[index]!.serving])),
    close: () => [...clients.map(([, client]) => client), ...probes].forEach((client) => client.close()),
  };
};
