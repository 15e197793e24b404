/** Clients of the other services. */
import { createGrpcClient, type ClientOf, type TlsConfig } from "@nodeloom/platform";
import { executions, identity, workflows } from "@nodeloom/proto";

export type Executions = ClientOf<executions.ExecutionsServiceServer>;
export type Identity = ClientOf<identity.IdentityServiceServer>;
export type Workflows = ClientOf<workflows.WorkflowsServiceServer>;

type Locations = Readonly<Record<"EXECUTIONS_ADDRESS" | "IDENTITY_ADDRESS" | "WORKFLOWS_ADDRESS", string>>;

export const connectServices = (config: Locations & TlsConfig) => {
  const at = (address: string) => ({ address, tls: config });
  return {
    executions: createGrpcClient<executions.ExecutionsServiceServer>(executions.ExecutionsServiceService, at(config.EXECUTIONS_ADDRESS)),
    identity: createGrpcClient<identity.IdentityServiceServer>(identity.IdentityServiceService, at(config.IDENTITY_ADDRESS)),
    workflows: createGrpcClient<workflows.WorkflowsServiceServer>(workflows.WorkflowsServiceService, at(config.WORKFLOWS_ADDRESS)),
  };
};
