// Written by `npm run generate` from the files of proto/nodeloom.
import { join } from "node:path";

/** The compiled protocol (a google.protobuf.FileDescriptorSet with all imports), for server reflection. */
export const descriptorsFile = join(__dirname, "..", "dist", "descriptors.binpb");

export { ErrorInfo } from "./gen/google/rpc/error_details";
export { Status } from "./gen/google/rpc/status";
export * as billing from "./gen/nodeloom/billing/v1/billing";
export * as payments from "./gen/nodeloom/billing/v1/payments";
export * as erasure from "./gen/nodeloom/erasure/v1/erasure";
export * as accountExports from "./gen/nodeloom/executions/v1/account_exports";
export * as batches from "./gen/nodeloom/executions/v1/batches";
export * as bundles from "./gen/nodeloom/executions/v1/bundles";
export * as erasures from "./gen/nodeloom/executions/v1/erasures";
export * as executions from "./gen/nodeloom/executions/v1/executions";
export * as mail from "./gen/nodeloom/executions/v1/mail";
export * as earlierTriggers from "./gen/nodeloom/executions/v1/triggers";
export * as accountErasure from "./gen/nodeloom/identity/v1/account_erasure";
export * as addresses from "./gen/nodeloom/identity/v1/addresses";
export * as identity from "./gen/nodeloom/identity/v1/identity";
export * as organizations from "./gen/nodeloom/identity/v1/organizations";
export * as signIn from "./gen/nodeloom/identity/v1/sign_in";
export * as mediaExports from "./gen/nodeloom/media/v1/exports";
export * as media from "./gen/nodeloom/media/v1/media";
export * as models from "./gen/nodeloom/models/v1/models";
export * as modelServers from "./gen/nodeloom/models/v1/servers";
export * as notifications from "./gen/nodeloom/notifications/v1/notifications";
export * as transform from "./gen/nodeloom/transform/v1/transform";
export * as triggers from "./gen/nodeloom/triggers/v1/triggers";
export * as usage from "./gen/nodeloom/usage/v1/usage";
export * as workflows from "./gen/nodeloom/workflows/v1/workflows";
