import { createGrpcClient, type Checks, type ClientOf, type TlsConfig } from "@nodeloom/platform";
import { batches, billing, executions, identity, media, models, payments, signIn, usage, workflows } from "@nodeloom/proto";
import { createHealthProbe } from "./routes/health/health";

export interface Services {
  identity: ClientOf<identity.IdentityServiceServer>;
  /** Served by identity, too. */
  signIn: ClientOf<signIn.SignInServiceServer>;
  workflows: ClientOf<workflows.WorkflowsServiceServer>;
  models: ClientOf<models.ModelsServiceServer>;
  billing: ClientOf<billing.BillingServiceServer>;
  /** Served by billing, too. */
  payments: ClientOf<payments.PaymentsServiceServer>;
  usage: ClientOf<usage.UsageServiceServer>;
  executions: ClientOf<executions.ExecutionsServiceServer>;
  /** Served by executions, too. */
  batches: ClientOf<batches.BatchesServiceServer>;
  media: ClientOf<media.MediaServiceServer>;
}

export type ServiceName = Exclude<keyof Services, "batches" | "payments" | "signIn">;
export type Addresses = Readonly<Record<ServiceName, string>>;

const DEFINITIONS = {
  identity: identity.IdentityServiceService,
  workflows: workflows.WorkflowsServiceService,
  models: models.ModelsServiceService,
  billing: billing.BillingServiceService,
  usage: usage.UsageServiceService,
  executions: executions.ExecutionsServiceService,
  media: media.MediaServiceService,
} as const;

export interface Connections {
  services: Services;
  /** Whether each service can be reached and says that it serves. */
  checks: Checks;
  close(): void;
}

/** Clients of every service. Nothing is dialled before the first call. */
export const connectServices = (addresses: Addresses, tls: TlsConfig): Connections => {
  const names = Object.keys(DEFINITIONS) as ServiceName[];
  const clients = names.map((name) => createGrpcClient<object>(DEFINITIONS[name], { address: addresses[name], tls }));
  const ofBatches = createGrpcClient<batches.BatchesServiceServer>(batches.BatchesServiceService, { address: addresses.executions, tls });
  const ofSignIns = createGrpcClient<signIn.SignInServiceServer>(signIn.SignInServiceService, { address: addresses.identity, tls });
  const ofPayments = createGrpcClient<payments.PaymentsServiceServer>(payments.PaymentsServiceService, { address: addresses.billing, tls });
  const more = { batches: ofBatches, payments: ofPayments, signIn: ofSignIns };
  const probes = names.map((name) => createHealthProbe({ address: addresses[name], tls }));
  return {
    services: { ...Object.fromEntries(names.map((name, index) => [name, clients[index]])), ...more } as unknown as Services,
    checks: Object.fromEntries(names.map((name, index) => [name, probes[index]!.serving])),
    close: () => [...clients, ...Object.values(more), ...probes].forEach((client) => client.close()),
  };
};
