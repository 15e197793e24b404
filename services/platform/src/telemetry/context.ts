import { AsyncLocalStorage } from "node:async_hooks";

/** What travels with a request through every process it touches. */
export interface RequestContext {
  requestId: string;
  /** The run that it is about. */
  executionId?: string;
  /** When the caller stops waiting, in milliseconds since the epoch. */
  deadlineMs?: number;
}

const storage = new AsyncLocalStorage<RequestContext>();

/** The request being served, if any. */
export const requestContext = (): RequestContext | undefined => storage.getStore();

/** Runs a function (and all it awaits) as part of a request. */
export const withRequestContext = <T>(context: RequestContext, run: () => T): T => storage.run(context, run);
