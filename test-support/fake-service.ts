import { Server, ServerCredentials, type ServiceDefinition, type UntypedServiceImplementation } from "@grpc/grpc-js";

import { freePort } from "../deploy/local/servers/ports.cjs";

export interface FakeService {
  address: string;
  /** Drops every connection at once, like a crash. */
  crash(): void;
  /** Listens again on the same port. */
  restart(): Promise<void>;
  stop(): void;
}

/** A gRPC server with a real definition that implements only what a test needs. Other methods return UNIMPLEMENTED. */
export const startFakeService = async <S extends UntypedServiceImplementation>(
  definition: ServiceDefinition<S>,
  handlers: Partial<S>,
  /** An additional service at the same address. */
  more?: { definition: ServiceDefinition; handlers: UntypedServiceImplementation },
): Promise<FakeService> => {
  const listen = async (port: number): Promise<{ server: Server; port: number }> => {
    const server = new Server();
    server.addService(definition, handlers as UntypedServiceImplementation);
    if (more) server.addService(more.definition, more.handlers);
    const bound = await new Promise<number>((resolve, reject) => {
      server.bindAsync(`127.0.0.1:${port}`, ServerCredentials.createInsecure(), (error, at) => (error ? reject(error) : resolve(at)));
    });
    return { server, port: bound };
  };
  // A port that stays reserved while the service is down.
  const { server: first, port } = await listen(await freePort());
  let server = first;
  return {
    address: `127.0.0.1:${port}`,
    crash: () => server.forceShutdown(),
    restart: async () => {
      ({ server } = await listen(port));
    },
    stop: () => server.forceShutdown(),
  };
};
