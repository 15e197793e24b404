import {
  Client,
  connectivityState,
  Metadata,
  status,
  type handleClientStreamingCall,
  type handleServerStreamingCall,
  type handleUnaryCall,
  type ServiceDefinition,
  type ServiceError,
} from "@grpc/grpc-js";
import { context as otelContext, propagation } from "@opentelemetry/api";
import { requestContext } from "../context";
import { channelCredentials, type TlsConfig } from "./credentials";
import { drained } from "./drained";
import { fromServiceError } from "./errors";
import { MAX_MESSAGE_BYTES, REQUEST_ID_KEY } from "./server";

const DEFAULT_DEADLINE_MS = 5_000;
const MAX_RECONNECT_BACKOFF_MS = 1_000;
/** Longer than a reconnection's pause, so that a call meets at least one attempt. */
const RECONNECT_MS = 1_500;

export interface CallOptions {
  /** How long the call may take; the caller's own deadline shortens it. */
  deadlineMs?: number;
  signal?: AbortSignal;
  /** Wait for the callee to come back instead of failing at once. */
  waitForReady?: boolean;
}

/** Methods of a generated server interface as a client sees them. */
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
  const carrier: Record<string, string> = {};
  propagation.inject(otelContext.active(), carrier);
  for (const [key, value] of Object.entries(carrier)) metadata.set(key, value);
  const requestId = requestContext()?.requestId;
  if (requestId) metadata.set(REQUEST_ID_KEY, requestId);
  return metadata;
};

/** Every call has a deadline: its own, or what is left of the request's, whichever comes first. */
const deadline = (options: CallOptions): Date => {
  const own = Date.now() + (options.deadlineMs ?? DEFAULT_DEADLINE_MS);
  return new Date(Math.min(own, requestContext()?.deadlineMs ?? Number.POSITIVE_INFINITY));
};

type Method = ServiceDefinition[string];

const AWAY: readonly connectivityState[] = [connectivityState.CONNECTING, connectivityState.TRANSIENT_FAILURE];

/** Waits a moment for a callee that is starting, or starting again; the call itself tells when it did not come. */
const arrived = (client: Client, until: number): Promise<void> =>
  new Promise((resolve) => client.waitForReady(Math.min(until, Date.now() + RECONNECT_MS), () => resolve()));

const unaryCall = async (client: Client, method: Method, callee: string, request: unknown, options: CallOptions): Promise<unknown> => {
  const until = deadline(options);
  if (AWAY.includes(client.getChannel().getConnectivityState(true))) await arrived(client, until.getTime());
  return new Promise((resolve, reject) => {
    const call = client.makeUnaryRequest(
      method.path,
      method.requestSerialize,
      method.responseDeserialize,
      request,
      outgoingMetadata(options),
      { deadline: until },
      (error: ServiceError | null, response?: unknown) => (error ? reject(fromServiceError(error, callee) as Error) : resolve(response)),
    );
    options.signal?.addEventListener("abort", () => call.cancel(), { once: true });
  });
};

async function* serverStreamCall(
  client: Client,
  method: Method,
  callee: string,
  request: unknown,
  options: CallOptions,
): AsyncIterable<unknown> {
  const call = client.makeServerStreamRequest(
    method.path,
    method.requestSerialize,
    method.responseDeserialize,
    request,
    outgoingMetadata(options),
    {
      deadline: deadline(options),
    },
  );
  const cancel = (): void => call.cancel();
  options.signal?.addEventListener("abort", cancel, { once: true });
  try {
    for await (const message of call) yield message;
  } catch (error) {
    if (options.signal?.aborted && (error as Partial<ServiceError>).code === status.CANCELLED) return;
    throw fromServiceError(error, callee);
  } finally {
    options.signal?.removeEventListener("abort", cancel);
    call.cancel();
  }
}

const clientStreamCall = (
  client: Client,
  method: Method,
  callee: string,
  requests: AsyncIterable<unknown>,
  options: CallOptions,
): Promise<unknown> =>
  new Promise((resolve, reject) => {
    const call = client.makeClientStreamRequest(
      method.path,
      method.requestSerialize,
      method.responseDeserialize,
      outgoingMetadata(options),
      { deadline: deadline(options) },
      (error: ServiceError | null, response?: unknown) => (error ? reject(fromServiceError(error, callee) as Error) : resolve(response)),
    );
    const pump = async (): Promise<void> => {
      for await (const message of requests) {
        if (!call.write(message)) await drained(call);
      }
      call.end();
    };
    pump().catch((error: unknown) => {
      call.cancel();
      reject(error as Error);
    });
  });

export interface ClientOptions {
  /** Balanced over every address the name resolves to. */
  address: string;
  tls?: TlsConfig;
}

/**
 * A client whose methods are those of a generated server interface, as promises and async iterables.
 * A call that fails raises the callee's DomainError; an unreachable callee is SERVICE_UNAVAILABLE.
 */
export const createGrpcClient = <S>(definition: ServiceDefinition, { address, tls = {} }: ClientOptions): ClientOf<S> => {
  const client = new Client(address, channelCredentials(tls), {
    "grpc.max_receive_message_length": MAX_MESSAGE_BYTES,
    "grpc.max_send_message_length": MAX_MESSAGE_BYTES,
    "grpc.max_reconnect_backoff_ms": MAX_RECONNECT_BACKOFF_MS,
    "grpc.initial_reconnect_backoff_ms": 100,
    "grpc.service_config": JSON.stringify({ loadBalancingConfig: [{ round_robin: {} }] }),
  });
  const callee = Object.values(definition)[0]!.path.split("/")[1]!.split(".")[1]!;
  const methods = Object.entries(definition).map(([name, method]) => {
    const call = method.responseStream
      ? (request: unknown, options: CallOptions = {}) => serverStreamCall(client, method, callee, request, options)
      : method.requestStream
        ? (requests: AsyncIterable<unknown>, options: CallOptions = {}) => clientStreamCall(client, method, callee, requests, options)
        : (request: unknown, options: CallOptions = {}) => unaryCall(client, method, callee, request, options);
    return [name, call];
  });
  return { ...Object.fromEntries(methods), close: () => client.close() } as ClientOf<S>;
};
