/** The client for browsers: everything except the verification of webhook signatures. */
export * from "./api-types";
export * from "./client";
export type { EventOptions, Events, ExecutionEvent } from "./events";
export { NETWORK_ERROR, NodeloomError } from "./errors";
export type { CompletedRun, Inputs, RunOptions, Runs, Target, WaitOptions } from "./runs";
export type { TokenProvider } from "./tokens";
export type { Answer, OperationId, RequestOf, RequestOptions, ResponseOf } from "./transport";
