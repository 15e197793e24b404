import type { Connection } from "mongoose";
import type { ProcessConfig } from "../config";
import { startGrpcServer } from "../grpc";
import type { TlsConfig } from "../grpc/credentials";
import type { GrpcService } from "../grpc/server";
import { isConnected } from "../stores/mongo";
import type { Logger } from "../telemetry/logger";
import type { Checks } from "./ops";
import type { RunningService } from "./service";

export interface ServeOptions<Listen extends string> {
  service: GrpcService;
  /** Additional gRPC services of the domain. */
  more?: readonly GrpcService[];
  config: Readonly<Record<Listen, string>> & Readonly<ProcessConfig> & TlsConfig;
  listen: Listen;
  connection: Connection;
  logger: Logger;
  checks?: Checks;
  /** Stops background work while calls are still served. */
  drain?(): Promise<void>;
  /** Closes everything that calls depend on, except the database. */
  stop?(): Promise<void>;
}

/** Serves a service's calls over gRPC. At a stop, calls end first, then their dependencies, and last the database connection. */
export const serveGrpc = async <Listen extends string>(options: ServeOptions<Listen>): Promise<RunningService> => {
  const { service, more = [], config, listen, connection, logger, checks, drain, stop } = options;
  const grpc = await startGrpcServer({ listen: config[listen], services: [service, ...more], logger, tls: config });
  return {
    ports: { [listen]: grpc.port },
    checks: { mongodb: () => isConnected(connection), ...checks },
    stop: async () => {
      await Promise.all([grpc.stop(), drain?.()]);
      await stop?.();
      await connection.close();
    },
  };
};
