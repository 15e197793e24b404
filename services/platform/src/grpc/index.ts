/** grpc/: servers and clients of calls between services, their certificates, errors and reflection. */
import type { ServiceDefinition, UntypedServiceImplementation } from "@grpc/grpc-js";
import type { ClientOf, ClientOptions } from "./client";
import type * as errors from "./errors";
import type * as handlers from "./handlers";
import type { GrpcServerOptions, GrpcService, RunningGrpcServer } from "./server";

/** gRPC is loaded when it is first used: a process without it saves a third of its start and of its memory. */
const loadClient = (): typeof import("./client") => require("./client") as typeof import("./client");
const loadServer = (): typeof import("./server") => require("./server") as typeof import("./server");
const loadErrors = (): typeof errors => require("./errors") as typeof errors;
const loadHandlers = (): typeof handlers => require("./handlers") as typeof handlers;

/**
 * A client whose methods are those of a generated server interface, as promises and async iterables.
 * A call that fails raises the callee's DomainError; an unreachable callee is SERVICE_UNAVAILABLE.
 */
export const createGrpcClient = <S>(definition: ServiceDefinition, options: ClientOptions): ClientOf<S> =>
  loadClient().createGrpcClient<S>(definition, options);

export const startGrpcServer = (options: GrpcServerOptions): Promise<RunningGrpcServer> => loadServer().startGrpcServer(options);

/** Pairs a generated definition with its handlers; the types of the two must agree. */
export const grpcService = <H extends UntypedServiceImplementation>(definition: ServiceDefinition<H>, implementation: H): GrpcService => ({
  definition,
  handlers: implementation,
});

/** A unary handler from a plain async function. DomainErrors become typed gRPC errors; others INTERNAL, logged. */
export const unary: typeof handlers.unary = (handler) => loadHandlers().unary(handler);

/** A server-streaming handler from an async generator; the signal aborts when the client goes away. */
export const serverStream: typeof handlers.serverStream = (handler) => loadHandlers().serverStream(handler);

/** A client-streaming handler from an async function over the incoming messages, which end with an error when their last one did not come. */
export const clientStream: typeof handlers.clientStream = (handler, isEnd) => loadHandlers().clientStream(handler, isEnd);

/** Whether a call ended without an answer of its callee, so that nobody knows what came of it. */
export const isUnanswered: typeof errors.isUnanswered = (error) => loadErrors().isUnanswered(error);
