import { AsyncLocalStorage } from "node:async_hooks";
import type { Span } from "./span";

/** What travels with a request through every process it touches. */
export interface RequestContext {
  requestId: string;
  /** The run that it is about. */
  executionId?: string;
  /** When the caller stops waiting, in milliseconds since the epoch. */
  deadlineMs?: number;
}

/** In one store: on Node.js 20 each store costs time whenever anything asynchronous begins. */
interface Carried {
  request: RequestContext | undefined;
  span: Span | undefined;
}

const storage = new AsyncLocalStorage<Carried>();

/** The request being served, if any. */
export const requestContext = (): RequestContext | undefined => storage.getStore()?.request;

/** The span that what is done now is part of, if any. */
export const activeSpan = (): Span | undefined => storage.getStore()?.span;

/** Runs a function (and all it awaits) as part of a request. */
export const withRequestContext = <T>(context: RequestContext, run: () => T): T =>
  storage.run({ request: context, span: activeSpan() }, run);

/** Runs a function (and all it awaits) as part of a span. */
export const withSpan = <T>(span: Span, run: () => T): T => storage.run({ request: requestContext(), span }, run);
