/** grpc/: servers and clients of calls between services, their certificates, errors and reflection. */
import type { ServiceDefinition, UntypedServiceImplementation } from "@grpc/grpc-js";
import type { ClientOf, ClientOptions } from "./client";
import type * as errors from "./errors";
import type * as handlers from "./handlers";
import type { GrpcServerOptions, GrpcService, RunningGrpcServer } from "./server";

/** gRPC is loaded on first use: without it, a process starts a third faster and needs a third less memory. */
const loadClient = (): typeof import("./client") => require("./client") as typeof import("./client");
const loadServer = (): typeof import("./server") => require("./server") as typeof import("./server");
const loadErrors = (): typeof errors => require("./errors") as typeof errors;
const loadHandlers = (): typeof handlers => require("./handlers") as typeof handlers;

/**
 * A client with the methods of a generated server interface, as promises and async iterables.
 * @throws DomainError of the service; SERVICE_UNAVAILABLE if it can't be reached
 */
export const createGrpcClient = <S>(definition: ServiceDefinition, options: ClientOptions): ClientOf<S> =>
  loadClient().createGrpcClient<S>(definition, options);

export const startGrpcServer = (options: GrpcServerOptions): Promise<RunningGrpcServer> => loadServer().startGrpcServer(options);

/** Pairs a generated definition with its handlers. Their types must agree. */
export const grpcService = <H extends UntypedServiceImplementation>(definition: ServiceDefinition<H>, implementation: H): GrpcService => ({
  definition,
  handlers: implementation,
});

/** Makes a unary handler from an async function. DomainErrors become typed gRPC errors; others become INTERNAL and are logged. */
export const unary: typeof handlers.unary = (handler) => loadHandlers().unary(handler);

/** Makes a server-streaming handler from an async generator. The signal aborts if the client disconnects. */
export const serverStream: typeof handlers.serverStream = (handler) => loadHandlers().serverStream(handler);

/** Makes a client-streaming handler from a function over the incoming messages. They end with an error if the last one is missing. */
export const clientStream: typeof handlers.clientStream = (handler, isEnd) => loadHandlers().clientStream(handler, isEnd);

/** Tells whether a call ended without an answer, so that its outcome is unknown. */
export const isUnanswered: typeof errors.isUnanswered = (error) => loadErrors().isUnanswered(error);
