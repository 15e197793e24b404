/** The client for browsers: everything except the verification of webhook signatures. */
export * from "./api-types";
export * from "./client";
export type { BundleOptions, Bundles } from "./bundles";
export type { EventData, EventOptions, Events, ExecutionEvent, NodeEventData } from "./events";
export { NETWORK_ERROR, NodeloomError } from "./errors";
export type { Downloadable, Hooks, MediaFiles, Schedules, Versions, WebhookEndpoints } from "./resources";
export type { CompletedRun, Inputs, Rerun, RunOptions, Runs, StreamOptions, Target, WaitOptions } from "./runs";
export type { Tests, WaitForTestsOptions } from "./tests";
export type { TokenProvider } from "./tokens";
export type { Answer, OperationId, RequestOf, RequestOptions, ResponseOf, Retry, SentRequest } from "./transport";
