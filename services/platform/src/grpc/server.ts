import { randomUUID } from "node:crypto";
import { join } from "node:path";
import {
  Server,
  type handleClientStreamingCall,
  type handleServerStreamingCall,
  type handleUnaryCall,
  type Metadata,
  type ServiceDefinition,
  type UntypedServiceImplementation,
} from "@grpc/grpc-js";
import { loadSync } from "@grpc/proto-loader";
import { ReflectionService } from "@grpc/reflection";
import { DomainError } from "@nodeloom/kernel";
import { protoRoot } from "@nodeloom/proto";
import { context as otelContext, propagation, SpanKind, SpanStatusCode, trace } from "@opentelemetry/api";
import { HealthImplementation } from "grpc-health-check";
import { withRequestContext, type RequestContext } from "../context";
import type { Logger } from "../logger";
import { serverCredentials, type TlsConfig } from "./credentials";
import { isDatabaseAway } from "../mongo";
import { drained } from "./drained";
import { toServiceError } from "./errors";

export const REQUEST_ID_KEY = "x-request-id";
/** Graphs travel as JSON text of up to 8 MB. */
export const MAX_MESSAGE_BYTES = 16 * 1024 * 1024;

const tracer = trace.getTracer("nodeloom.grpc");

interface IncomingCall {
  metadata: Metadata;
  getDeadline(): Date | number;
  getPath(): string;
}

/** Runs a handler inside the caller's request context and trace. */
const serve = async <T>(call: IncomingCall, run: () => Promise<T>): Promise<T> => {
  const deadline = Number(call.getDeadline());
  const context: RequestContext = { requestId: String(call.metadata.get(REQUEST_ID_KEY)[0] ?? randomUUID()) };
  if (Number.isFinite(deadline)) context.deadlineMs = deadline;
  const parent = propagation.extract(otelContext.active(), Object.fromEntries(Object.entries(call.metadata.getMap())));
  return withRequestContext(context, () =>
    otelContext.with(parent, () =>
      tracer.startActiveSpan(call.getPath(), { kind: SpanKind.SERVER }, async (span) => {
        try {
          return await run();
        } catch (error) {
          span.setStatus({ code: SpanStatusCode.ERROR });
          throw error;
        } finally {
          span.end();
        }
      }),
    ),
  );
};

let logUnexpected: (error: unknown, path: string) => void = () => undefined;

const failure = (error: unknown, path: string): ReturnType<typeof toServiceError> => {
  if (!(error instanceof DomainError)) logUnexpected(error, path);
  return toServiceError(error);
};

/** A unary handler from a plain async function. DomainErrors become typed gRPC errors; others INTERNAL, logged. */
export const unary =
  <Q, R>(handler: (request: Q) => Promise<R>): handleUnaryCall<Q, R> =>
  (call, callback) => {
    serve(call, () => handler(call.request)).then(
      (response) => callback(null, response),
      (error: unknown) => callback(failure(error, call.getPath())),
    );
  };

/** A server-streaming handler from an async generator; the signal aborts when the client goes away. */
export const serverStream =
  <Q, R>(handler: (request: Q, signal: AbortSignal) => AsyncIterable<R>): handleServerStreamingCall<Q, R> =>
  (call) => {
    const gone = new AbortController();
    call.on("cancelled", () => gone.abort());
    serve(call, async () => {
      for await (const message of handler(call.request, gone.signal)) {
        if (gone.signal.aborted) return;
        if (!call.write(message)) await drained(call);
      }
    }).then(
      () => call.end(),
      (error: unknown) => call.emit("error", failure(error, call.getPath())),
    );
  };

/** A client-streaming handler from an async function over the incoming messages. */
export const clientStream =
  <Q, R>(handler: (requests: AsyncIterable<Q>) => Promise<R>): handleClientStreamingCall<Q, R> =>
  (call, callback) => {
    serve(call, () => handler(call as AsyncIterable<Q>)).then(
      (response) => callback(null, response),
      (error: unknown) => callback(failure(error, call.getPath())),
    );
  };

export interface GrpcService {
  definition: ServiceDefinition;
  handlers: UntypedServiceImplementation;
}

/** Pairs a generated definition with its handlers; the types of the two must agree. */
export const grpcService = <H extends UntypedServiceImplementation>(definition: ServiceDefinition<H>, handlers: H): GrpcService => ({
  definition,
  handlers,
});

export interface GrpcServerOptions {
  /** host:port; port 0 picks a free one. */
  listen: string;
  services: GrpcService[];
  logger: Logger;
  tls?: TlsConfig;
  /** Stops forcing calls to end after this long. */
  graceMs?: number;
}

export interface RunningGrpcServer {
  port: number;
  /** Refuses new calls, lets running ones end within the grace, then forces. */
  stop(): Promise<void>;
}

const serviceName = (definition: ServiceDefinition): string => Object.values(definition)[0]!.path.split("/")[1]!;

/** `nodeloom.billing.v1.BillingService` is declared in nodeloom/billing/v1/billing.proto. */
const protoFile = (service: string): string => {
  const [scope, domain, version] = service.split(".");
  return join(scope!, domain!, version!, `${domain}.proto`);
};

/** Starts a gRPC server with health and reflection. */
export const startGrpcServer = async (options: GrpcServerOptions): Promise<RunningGrpcServer> => {
  const { listen, services, logger, tls = {}, graceMs = 10_000 } = options;
  logUnexpected = (error, path) =>
    isDatabaseAway(error) ? logger.warn({ path }, "the database is away") : logger.error({ err: error, path }, "unexpected error");
  const server = new Server({ "grpc.max_receive_message_length": MAX_MESSAGE_BYTES, "grpc.max_send_message_length": MAX_MESSAGE_BYTES });
  for (const { definition, handlers } of services) server.addService(definition, handlers);
  const names = services.map(({ definition }) => serviceName(definition));
  const health = new HealthImplementation(Object.fromEntries(["", ...names].map((name) => [name, "SERVING" as const])));
  health.addToServer(server);
  const descriptors = loadSync(names.map(protoFile), { includeDirs: [protoRoot] });
  new ReflectionService(descriptors, { services: names }).addToServer(server);
  const port = await new Promise<number>((resolve, reject) => {
    server.bindAsync(listen, serverCredentials(listen, tls), (error, bound) => (error ? reject(error) : resolve(bound)));
  });
  return {
    port,
    stop: () =>
      new Promise((resolve) => {
        for (const name of ["", ...names]) health.setStatus(name, "NOT_SERVING");
        const forced = setTimeout(() => server.forceShutdown(), graceMs);
        server.tryShutdown(() => {
          clearTimeout(forced);
          resolve();
        });
      }),
  };
};
