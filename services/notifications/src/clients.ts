/** Clients of the other services. */
import { createGrpcClient, type ClientOf, type TlsConfig } from "@nodeloom/platform";
import { addresses, billing, executions, identity } from "@nodeloom/proto";

/** Client of identity's address service. */
export type EmailAddresses = ClientOf<addresses.AddressServiceServer>;
export type Billing = ClientOf<billing.BillingServiceServer>;
export type Executions = ClientOf<executions.ExecutionsServiceServer>;
export type Identity = ClientOf<identity.IdentityServiceServer>;

type Locations = Readonly<Record<"IDENTITY_ADDRESS" | "EXECUTIONS_ADDRESS" | "BILLING_ADDRESS", string>>;

export const connectServices = (config: Locations & TlsConfig) => {
  const connect = <S>(service: Parameters<typeof createGrpcClient>[0], address: string) =>
    createGrpcClient<S>(service, { address, tls: config });
  return {
    identity: connect<identity.IdentityServiceServer>(identity.IdentityServiceService, config.IDENTITY_ADDRESS),
    addresses: connect<addresses.AddressServiceServer>(addresses.AddressServiceService, config.IDENTITY_ADDRESS),
    executions: connect<executions.ExecutionsServiceServer>(executions.ExecutionsServiceService, config.EXECUTIONS_ADDRESS),
    billing: connect<billing.BillingServiceServer>(billing.BillingServiceService, config.BILLING_ADDRESS),
  };
};
