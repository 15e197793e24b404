import {
  Client,
  connectivityState,
  Metadata,
  status,
  type ChannelOptions,
  type ClientReadableStream,
  type ClientUnaryCall,
  type ClientWritableStream,
  type handleClientStreamingCall,
  type handleServerStreamingCall,
  type handleUnaryCall,
  type requestCallback,
  type ServiceDefinition,
  type ServiceError,
} from "@grpc/grpc-js";
import { SpanKind } from "@opentelemetry/api";
import { requestContext } from "../telemetry/context";
import { failSpan, injectTrace, inSpan, startSpan, withSpan } from "../telemetry/tracing";
import { retry, type RetryOptions } from "../work/retry";
import { addKey, SERVICE_CONFIG } from "./affinity";
import { renewing, wasRefused, type ConnectionTimes, type Renewing } from "./connection";
import { channelCredentials, type TlsConfig } from "./credentials";
import { drained } from "./drained";
import { fromServiceError } from "./errors";
import { spanOfCall } from "./span";
import { MAX_MESSAGE_BYTES, REQUEST_ID_KEY } from "./wire";

const DEFAULT_DEADLINE_MS = 5_000;
/** With HTTP/2's default window of 64 kB, large lists and graphs stall. */
const RECEIVE_WINDOW_BYTES = 1024 * 1024;
const MAX_RECONNECT_BACKOFF_MS = 1_000;
/** Longer than the pause before a reconnection, so that at least one attempt is made during a call. */
const RECONNECT_MS = 1_500;

export interface CallOptions {
  /** Time limit of the call. The caller's deadline can shorten it. */
  deadlineMs?: number;
  signal?: AbortSignal;
  /** Maximum wait for an unavailable service before the call is made; 0 if the caller retries. */
  reconnectMs?: number;
  waitForReady?: boolean;
}

export type ClientOf<S> = {
  [K in keyof S]: S[K] extends handleUnaryCall<infer Q, infer R>
    ? (request: Q, options?: CallOptions) => Promise<R>
    : S[K] extends handleServerStreamingCall<infer Q, infer R>
      ? (request: Q, options?: CallOptions) => AsyncIterable<R>
      : S[K] extends handleClientStreamingCall<infer Q, infer R>
        ? (requests: AsyncIterable<Q> | Iterable<Q>, options?: CallOptions) => Promise<R>
        : never;
} & { close(): void };

const outgoingMetadata = (options: CallOptions): Metadata => {
  const metadata = new Metadata({ waitForReady: options.waitForReady ?? false });
  injectTrace((key, value) => metadata.set(key, value));
  const requestId = requestContext()?.requestId;
  if (requestId) metadata.set(REQUEST_ID_KEY, requestId);
  return metadata;
};

/** Every call has a deadline: its own or the remaining time of the request, whichever is earlier. */
const deadline = (options: CallOptions): Date => {
  const own = Date.now() + (options.deadlineMs ?? DEFAULT_DEADLINE_MS);
  return new Date(Math.min(own, requestContext()?.deadlineMs ?? Number.POSITIVE_INFINITY));
};

type Method = ServiceDefinition[string];

interface Target {
  connection: Renewing;
  method: Method;
  callee: string;
  span: ReturnType<typeof spanOfCall>;
}

type Call = ClientUnaryCall | ClientWritableStream<unknown> | ClientReadableStream<unknown>;

const cancelWith = (call: Call, signal?: AbortSignal): void => {
  if (!signal) return;
  const cancel = (): void => call.cancel();
  if (signal.aborted) return cancel();
  signal.addEventListener("abort", cancel);
  call.once("status", () => signal.removeEventListener("abort", cancel));
};

const UNCONNECTED: readonly connectivityState[] = [connectivityState.CONNECTING, connectivityState.TRANSIENT_FAILURE];

/** Waits briefly for a service that is starting. If the service stays unavailable, the call fails. */
const reach = async (client: Client, { reconnectMs = RECONNECT_MS, signal }: CallOptions, until: Date): Promise<void> => {
  if (signal?.aborted || !UNCONNECTED.includes(client.getChannel().getConnectivityState(true))) return;
  const patience = Math.min(until.getTime(), Date.now() + reconnectMs);
  await new Promise<void>((resolve) => {
    const goOn = (): void => {
      signal?.removeEventListener("abort", goOn);
      resolve();
    };
    signal?.addEventListener("abort", goOn);
    client.waitForReady(patience, goOn);
  });
};

/** Pauses before retrying a call that a stopping replica rejected. Meanwhile its connection is closed. */
const REFUSED_PAUSES_MS = [20, 40, 60, 80];

const whereRefused = (until: Date): RetryOptions => ({
  pausesMs: REFUSED_PAUSES_MS,
  shouldRetry: (error) => wasRefused(error as ServiceError),
  until: until.getTime(),
});

/** Makes a unary call on a connection that is kept open until the call ends. */
const answered = async (
  { connection }: Target,
  options: CallOptions,
  until: Date,
  make: (client: Client, answer: requestCallback<unknown>, fail: (error: unknown) => void) => Call,
): Promise<unknown> => {
  const { client, release } = connection.lease();
  try {
    await reach(client, options, until);
    return await new Promise((resolve, reject) => {
      const call = make(client, (error, response) => (error ? reject(error) : resolve(response)), reject);
      cancelWith(call, options.signal);
    });
  } finally {
    release();
  }
};

const unaryCall = (target: Target, request: unknown, options: CallOptions): Promise<unknown> => {
  const until = deadline(options);
  const { path, requestSerialize, responseDeserialize } = target.method;
  const once = (): Promise<unknown> =>
    answered(target, options, until, (client, answer) => {
      const metadata = outgoingMetadata(options);
      addKey(path, request, metadata);
      return client.makeUnaryRequest(path, requestSerialize, responseDeserialize, request, metadata, { deadline: until }, answer);
    });
  return retry(once, whereRefused(until));
};

async function* openStream({ connection, method }: Target, request: unknown, options: CallOptions, until: Date): AsyncGenerator<unknown> {
  const { path, requestSerialize, responseDeserialize } = method;
  const { client, release } = connection.lease();
  let call: ClientReadableStream<unknown> | undefined;
  try {
    await reach(client, options, until);
    const metadata = outgoingMetadata(options);
    call = client.makeServerStreamRequest(path, requestSerialize, responseDeserialize, request, metadata, { deadline: until });
    cancelWith(call, options.signal);
    yield* call;
  } finally {
    call?.cancel();
    release();
  }
}

async function* serverStreamCall(target: Target, request: unknown, options: CallOptions): AsyncIterable<unknown> {
  const span = startSpan(target.span.name, target.span.options);
  const until = deadline(options);
  try {
    const { messages, first } = await retry(async () => {
      const opened = openStream(target, request, options, until);
      return { messages: opened, first: await withSpan(span, () => opened.next()) };
    }, whereRefused(until));
    try {
      for (let next = first; !next.done; next = await messages.next()) yield next.value;
    } finally {
      await messages.return(undefined);
    }
  } catch (error) {
    if (options.signal?.aborted && (error as Partial<ServiceError>).code === status.CANCELLED) return;
    failSpan(span);
    throw fromServiceError(error, target.callee);
  } finally {
    span.end();
  }
}

/** Requests are read only after the service is reachable. */
const clientStreamCall = (target: Target, requests: AsyncIterable<unknown>, options: CallOptions): Promise<unknown> => {
  const until = deadline(options);
  const { path, requestSerialize, responseDeserialize } = target.method;
  return answered(target, options, until, (client, answer, fail) => {
    const metadata = outgoingMetadata(options);
    const call = client.makeClientStreamRequest(path, requestSerialize, responseDeserialize, metadata, { deadline: until }, answer);
    let isOver = false;
    call.once("status", () => (isOver = true));
    const pump = async (): Promise<void> => {
      for await (const message of requests) {
        if (isOver) return;
        if (!call.write(message)) await drained(call);
      }
      call.end();
    };
    pump().catch((error: unknown) => {
      call.cancel();
      fail(error);
    });
    return call;
  });
};

export interface ClientOptions {
  address: string;
  tls?: TlsConfig;
  connections?: Partial<ConnectionTimes>;
}

const CHANNEL: ChannelOptions = {
  "grpc.max_receive_message_length": MAX_MESSAGE_BYTES,
  "grpc.max_send_message_length": MAX_MESSAGE_BYTES,
  "grpc-node.flow_control_window": RECEIVE_WINDOW_BYTES,
  "grpc.max_reconnect_backoff_ms": MAX_RECONNECT_BACKOFF_MS,
  "grpc.initial_reconnect_backoff_ms": 100,
  // channelz records every call for a debugging service that isn't provided here.
  "grpc.enable_channelz": 0,
  "grpc.service_config": SERVICE_CONFIG,
};

export const createGrpcClient = <S>(definition: ServiceDefinition, { address, tls = {}, connections }: ClientOptions): ClientOf<S> => {
  const security = channelCredentials(tls);
  const connect = (options: ChannelOptions): Client => new Client(address, security, { ...CHANNEL, ...options });
  const connection = renewing(connect, connections);
  const callee = Object.values(definition)[0]!.path.split("/")[1]!.split(".")[1]!;
  const methods = Object.entries(definition).map(([name, method]) => {
    const span = spanOfCall(method.path, SpanKind.CLIENT);
    const target: Target = { connection, method, callee, span };
    const traced = (run: () => Promise<unknown>): Promise<unknown> =>
      inSpan(span.name, span.options, () =>
        run().catch((error: unknown) => {
          throw fromServiceError(error, callee);
        }),
      );
    const call = method.responseStream
      ? (request: unknown, options: CallOptions = {}) => serverStreamCall(target, request, options)
      : method.requestStream
        ? (requests: AsyncIterable<unknown>, options: CallOptions = {}) => traced(() => clientStreamCall(target, requests, options))
        : (request: unknown, options: CallOptions = {}) => traced(() => unaryCall(target, request, options));
    return [name, call];
  });
  return { ...Object.fromEntries(methods), close: () => connection.close() } as ClientOf<S>;
};
