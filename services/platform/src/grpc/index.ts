/** grpc/: servers and clients for calls between services, with certificates, errors and reflection. */
import type { ServiceDefinition, UntypedServiceImplementation } from "@grpc/grpc-js";
import type { ClientOf, ClientOptions } from "./client";
import type * as errors from "./errors";
import type * as handlers from "./handlers";
import type { GrpcServerOptions, GrpcService, RunningGrpcServer } from "./server";

/** gRPC is loaded on first use. A process without it starts a third faster and needs a third less memory. */
const loadClient = (): typeof import("./client") => require("./client") as typeof import("./client");
const loadServer = (): typeof import("./server") => require("./server") as typeof import("./server");
const loadErrors = (): typeof errors => require("./errors") as typeof errors;
const loadHandlers = (): typeof handlers => require("./handlers") as typeof handlers;

/**
 * A client with the methods of a generated server interface, as promises and async iterables.
 * @throws DomainError from the service, or SERVICE_UNAVAILABLE if it can't be reached
 */
export const createGrpcClient = <S>(definition: ServiceDefinition, options: ClientOptions): ClientOf<S> =>
  loadClient().createGrpcClient<S>(definition, options);

export const startGrpcServer = (options: GrpcServerOptions): Promise<RunningGrpcServer> => loadServer().startGrpcServer(options);

/** Combines a generated definition with its handlers, whose types must match. */
export const grpcService = <H extends UntypedServiceImplementation>(definition: ServiceDefinition<H>, implementation: H): GrpcService => ({
  definition,
  handlers: implementation,
});

/** Creates a unary handler from an async function. DomainErrors become typed gRPC errors; other errors become INTERNAL and are logged. */
export const unary: typeof handlers.unary = (handler) => loadHandlers().unary(handler);

/** Creates a server-streaming handler from an async generator. The signal aborts if the client disconnects. */
export const serverStream: typeof handlers.serverStream = (handler) => loadHandlers().serverStream(handler);

/**
 * Creates a client-streaming handler from a function over the incoming messages. The messages end with an error if the last one is missing.
 */
export const clientStream: typeof handlers.clientStream = (handler, isEnd) => loadHandlers().clientStream(handler, isEnd);

/** True if a call ended without a response, so that its outcome is unknown. */
export const isUnanswered: typeof errors.isUnanswered = (error) => loadErrors().isUnanswered(error);
