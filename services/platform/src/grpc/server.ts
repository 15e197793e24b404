import { join } from "node:path";
import { Server, type ServiceDefinition, type UntypedServiceImplementation } from "@grpc/grpc-js";
import { loadSync } from "@grpc/proto-loader";
import { ReflectionService } from "@grpc/reflection";
import { protoRoot } from "@nodeloom/proto";
import { HealthImplementation } from "grpc-health-check";
import type { Logger } from "../logger";
import { serverCredentials, type TlsConfig } from "./credentials";
import { logErrorsOf } from "./handlers";
import { MAX_MESSAGE_BYTES } from "./wire";

export interface GrpcService {
  definition: ServiceDefinition;
  handlers: UntypedServiceImplementation;
}

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
  const credentials = serverCredentials(listen, tls);
  const server = new Server({ "grpc.max_receive_message_length": MAX_MESSAGE_BYTES, "grpc.max_send_message_length": MAX_MESSAGE_BYTES });
  for (const { definition, handlers } of services) server.addService(definition, handlers);
  const names = services.map(({ definition }) => serviceName(definition));
  for (const name of names) logErrorsOf(name, logger);
  const health = new HealthImplementation(Object.fromEntries(["", ...names].map((name) => [name, "SERVING" as const])));
  health.addToServer(server);
  const descriptors = loadSync(names.map(protoFile), { includeDirs: [protoRoot] });
  new ReflectionService(descriptors, { services: names }).addToServer(server);
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
