import { randomUUID } from "node:crypto";
import type { handleClientStreamingCall, handleServerStreamingCall, handleUnaryCall, Metadata, ServerReadableStream } from "@grpc/grpc-js";
import { SpanKind, type TextMapGetter } from "@opentelemetry/api";
import { DomainError, unavailable } from "@nodeloom/kernel";
import { withRequestContext, type RequestContext } from "../telemetry/context";
import type { Logger } from "../telemetry/logger";
import { durationHistogram } from "../telemetry/metrics";
import { inSpan, tracedByCaller } from "../telemetry/tracing";
import { isDatabaseUnavailable } from "../stores/mongo";
import { drained } from "./drained";
import { knownError, toServiceError } from "./errors";
import { spanOfCall } from "./span";
import { REQUEST_ID_KEY } from "./wire";

interface IncomingCall {
  metadata: Metadata;
  getDeadline(): Date | number;
  getPath(): string;
}

const callTook = durationHistogram("nodeloom.grpc.server.duration", "how long calls between services took to answer");

/** Measures unary calls. Streams aren't measured, because their duration depends on the reader. */
const timed = async <T>(path: string, answer: () => Promise<T>): Promise<T> => {
  const [, service = "", method = ""] = path.split("/");
  const startedAt = performance.now();
  const note = (outcome: string): void => callTook(performance.now() - startedAt, { service, method, outcome });
  try {
    const answered = await answer();
    note("ok");
    return answered;
  } catch (error) {
    note(knownError(error).kind);
    throw error;
  }
};

const METADATA: TextMapGetter<Metadata> = {
  get: (metadata, key) => String(metadata.get(key)[0] ?? ""),
  keys: (metadata) => Object.keys(metadata.getMap()),
};

const serve = <T>(call: IncomingCall, run: () => Promise<T>): Promise<T> => {
  const deadline = Number(call.getDeadline());
  const context: RequestContext = { requestId: String(call.metadata.get(REQUEST_ID_KEY)[0] ?? randomUUID()) };
  if (Number.isFinite(deadline)) context.deadlineMs = deadline;
  const { name, options } = spanOfCall(call.getPath(), SpanKind.SERVER);
  return withRequestContext(context, () => inSpan(name, options, run, tracedByCaller(call.metadata, METADATA)));
};

const loggers = new Map<string, Logger>();

/** Sets the logger for unexpected errors of a service's handlers, because several services can share a process. */
export const logErrorsOf = (service: string, logger: Logger): void => {
  loggers.set(service, logger);
};

const failure = (error: unknown, path: string): ReturnType<typeof toServiceError> => {
  const expected = error instanceof DomainError || isDatabaseUnavailable(error);
  if (!expected) loggers.get(path.split("/")[1]!)?.error({ err: error, path }, "unexpected error");
  return toServiceError(error);
};

/** @param handler gets a signal that aborts if the caller cancels the call before its answer */
export const unary =
  <Q, R>(handler: (request: Q, signal: AbortSignal) => Promise<R>): handleUnaryCall<Q, R> =>
  (call, callback) => {
    const disconnect = new AbortController();
    const abort = (): void => disconnect.abort();
    call.on("cancelled", abort);
    // grpc-js emits `cancelled` after answered calls as after cancelled ones. An abort would then create an error that nothing reads.
    const answer: typeof callback = (...args) => {
      call.off("cancelled", abort);
      callback(...args);
    };
    serve(call, () => timed(call.getPath(), async () => handler(call.request, disconnect.signal))).then(
      (response) => answer(null, response),
      (error: unknown) => answer(failure(error, call.getPath())),
    );
  };

export const serverStream =
  <Q, R>(handler: (request: Q, signal: AbortSignal) => AsyncIterable<R>): handleServerStreamingCall<Q, R> =>
  (call) => {
    const disconnect = new AbortController();
    call.on("cancelled", () => disconnect.abort());
    serve(call, async () => {
      for await (const message of handler(call.request, disconnect.signal)) {
        if (disconnect.signal.aborted) return;
        if (!call.write(message)) await drained(call);
      }
    }).then(
      () => call.end(),
      (error: unknown) => {
        // After a cancelled call there is no client to send an error to.
        if (!disconnect.signal.aborted) call.emit("error", failure(error, call.getPath()));
      },
    );
  };

/**
 * Yields the messages of a call up to the closing message. If a client cancels, its messages end before the call is reset, so the end of
 * the stream alone doesn't prove that all messages arrived.
 */
async function* whole<Q>(call: ServerReadableStream<Q, unknown>, isEnd: (message: Q) => boolean): AsyncIterable<Q> {
  let hasEnded = false;
  for await (const message of call) {
    hasEnded ||= isEnd(message as Q);
    if (!hasEnded) yield message as Q;
  }
  if (!hasEnded) throw unavailable("the messages broke off before their end");
}

export const clientStream =
  <Q, R>(handler: (requests: AsyncIterable<Q>) => Promise<R>, isEnd: (message: Q) => boolean): handleClientStreamingCall<Q, R> =>
  (call, callback) => {
    let isCancelled = false;
    call.on("cancelled", () => (isCancelled = true));
    serve(call, () => timed(call.getPath(), async () => handler(whole(call, isEnd)))).then(
      (response) => callback(null, response),
      (error: unknown) => {
        if (!isCancelled) callback(failure(error, call.getPath()));
      },
    );
  };
