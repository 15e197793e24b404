/** Runtime toolkit for all processes. The main file of each folder starts with the folder's purpose. */
export * from "./addresses";
export * from "./config";
export { SERVICES } from "./services";
export { payloadKeys } from "./temporal/payload-keys";
export * from "./temporal/security";
export { pollsPerSecond, workerSize, workerVariables } from "./temporal/worker-size";
export * from "./version";

export * from "./downloads/asset";
export * from "./downloads/availability";
export { isRunning, readProgress, writeProgress, type Progress as DownloadProgress } from "./downloads/progress";
export { unsupported } from "./downloads/support";

export * from "./egress/address-rules";
export * from "./egress/client";
export { guardedFetch } from "./egress/fetch";
export * from "./egress/outgoing";
export * from "./egress/own-servers";
export * from "./egress/retry-after";
export { signedHeaders } from "./egress/signed-headers";

export { clientStream, createGrpcClient, grpcService, isUnanswered, serverStream, startGrpcServer, unary } from "./grpc";
export type { CallOptions, ClientOf } from "./grpc/client";
export type { TlsConfig } from "./grpc/credentials";
export type { GrpcService, RunningGrpcServer } from "./grpc/server";

export * from "./messages/audit-json";
export * from "./messages/batch-json";
export * from "./messages/budget-json";
export * from "./messages/execution-json";
export * from "./messages/facade-json";
export * from "./messages/identity-changes";
export * from "./messages/media-calls";
export * from "./messages/media-urls";
export * from "./messages/model-price";
export * from "./messages/platform-owner";
export * from "./messages/runner";

export * from "./outbox/lease";
export * from "./outbox/outbox";
export * from "./outbox/relay";

export { lastPrinted, watchMemory, yieldToOthers } from "./process/child";
export * from "./process/http";
export { memoryOf } from "./process/memory";
export type { Check, Checks } from "./process/ops";
export { serveGrpc } from "./process/serve";
export * from "./process/service";

export * from "./secrets/keyring";

export * from "./stores/account-keys";
export * from "./stores/cluster-slots";
export * from "./stores/database";
export * from "./stores/free-place";
export * from "./stores/inserter";
export * from "./stores/updater";
export * from "./stores/mongo";
export { createArrival, takeRow, unmovedIds, type Move } from "./stores/moves";
export * from "./stores/pages";
export * from "./stores/redis";
export * from "./stores/window-counter";

export { requestContext, withRequestContext, type RequestContext } from "./telemetry/context";
export * from "./telemetry/logger";
export { libraryMetrics, type LibraryMetrics } from "./process/library-metrics";
export * from "./telemetry/metrics";
export { inCalledSpan, inClientSpan, inLinkedTrace, spanNamer, type TraceHeaders } from "./telemetry/tracing";

export * from "./work/batcher";
export { derivedId } from "./work/derived-id";
export { createFreshValue } from "./work/fresh-value";
export { openJournal, type Journal } from "./work/journal";
export {
  createErasure,
  erasureHandlers,
  type Erase,
  type ErasedMetadata,
  type EraseMetadata,
  type EraseParts,
  type EraseRuns,
  type ErasureSteps,
} from "./grpc/erasure";
export * from "./work/removal";
export * from "./work/retry";
export { createSharedReads } from "./work/shared-reads";
export * from "./work/signals";
export * from "./work/slots";
export { onceThere, STARTUP_PATIENCE_MS } from "./work/startup";
export * from "./work/sweeper";
export { withTimeout } from "./work/timeout";
