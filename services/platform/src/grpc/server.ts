import { Server, type ServiceDefinition, type UntypedServiceImplementation } from "@grpc/grpc-js";
import { HealthImplementation } from "grpc-health-check";
import type { Logger } from "../telemetry/logger";
import { callersOf } from "../addresses";
import { allowCallers } from "./allow-list";
import { keepalive, type ConnectionTimes } from "./connection";
import { serverCredentials, type TlsConfig } from "./credentials";
import { logErrorsOf } from "./handlers";
import { createReflection } from "./reflection";
import { MAX_MESSAGE_BYTES } from "./wire";

export interface GrpcService {
  definition: ServiceDefinition;
  handlers: UntypedServiceImplementation;
}

export interface GrpcServerOptions {
  listen: string;
  services: GrpcService[];
  logger: Logger;
  tls?: TlsConfig;
  graceMs?: number;
  connections?: Partial<ConnectionTimes>;
}

export interface RunningGrpcServer {
  port: number;
  /** Rejects new calls and waits for running calls within the grace period. Then cancels them. */
  stop(): Promise<void>;
}

const serviceName = (definition: ServiceDefinition): string => Object.values(definition)[0]!.path.split("/")[1]!;

/** A service accepts calls from itself (health probe) and from its listed callers. */
const allowedBy = (definition: ServiceDefinition): string[] => {
  const domain = serviceName(definition).split(".")[1]!;
  return [domain, ...callersOf(domain)];
};

export const startGrpcServer = async (options: GrpcServerOptions): Promise<RunningGrpcServer> => {
  const { listen, services, logger, tls = {}, graceMs = 10_000 } = options;
  const credentials = serverCredentials(listen, tls);
  const callers = services.flatMap(({ definition }) => allowedBy(definition));
  const server = new Server({
    "grpc.max_receive_message_length": MAX_MESSAGE_BYTES,
    "grpc.enable_channelz": 0,
    "grpc.max_send_message_length": MAX_MESSAGE_BYTES,
    ...keepalive(options.connections),
    interceptors: credentials._isSecure() ? [allowCallers(callers)] : [],
  });
  for (const { definition, handlers } of services) server.addService(definition, handlers);
  const names = services.map(({ definition }) => serviceName(definition));
  for (const name of names) logErrorsOf(name, logger);
  const health = new HealthImplementation(Object.fromEntries(["", ...names].map((name) => [name, "SERVING" as const])));
  health.addToServer(server);
  createReflection(names).addToServer(server);
  const port = await new Promise<number>((resolve, reject) => {
    server.bindAsync(listen, credentials, (error, bound) => (error ? reject(error) : resolve(bound)));
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
