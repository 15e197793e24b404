import type {
  handleClientStreamingCall,
  handleServerStreamingCall,
  handleUnaryCall,
  ServiceDefinition,
  UntypedServiceImplementation,
} from "@grpc/grpc-js";
import { createGrpcClient, createLogger, grpcService, startGrpcServer, type ClientOf, type Logger } from "../../src";

export type Json = unknown;

export interface JsonServer extends UntypedServiceImplementation {
  unary: handleUnaryCall<Json, Json>;
  stream: handleServerStreamingCall<Json, Json>;
  upload: handleClientStreamingCall<Json, Json>;
}

/** A service that the protocol declares, because reflection looks up its file. */
export const SERVICE_NAME = "nodeloom.billing.v1.BillingService";

const write = (value: Json): Buffer => Buffer.from(JSON.stringify(value));
const read = (bytes: Buffer): Json => JSON.parse(bytes.toString("utf8")) as Json;
const method = (name: string, requestStream: boolean, responseStream: boolean): ServiceDefinition[string] => ({
  path: `/${SERVICE_NAME}/${name}`,
  requestStream,
  responseStream,
  requestSerialize: write,
  requestDeserialize: read,
  responseSerialize: write,
  responseDeserialize: read,
});

/** Methods of each kind with JSON messages, for tests about calls instead of messages. */
export const JSON_SERVICE = {
  unary: method("Unary", false, false),
  stream: method("Stream", false, true),
  upload: method("Upload", true, false),
} as unknown as ServiceDefinition<JsonServer>;

export interface RunningJsonService {
  address: string;
  client: ClientOf<JsonServer>;
  stop(): Promise<void>;
}

export interface JsonServiceOptions {
  logger?: Logger;
  graceMs?: number;
}

export const startJsonService = async (
  handlers: Partial<JsonServer>,
  { logger = createLogger("test", "silent"), graceMs = 1_000 }: JsonServiceOptions = {},
): Promise<RunningJsonService> => {
  const services = [grpcService(JSON_SERVICE, handlers as JsonServer)];
  const server = await startGrpcServer({ listen: "127.0.0.1:0", services, logger, graceMs });
  const address = `127.0.0.1:${server.port}`;
  const client = createGrpcClient<JsonServer>(JSON_SERVICE, { address });
  return {
    address,
    client,
    stop: async () => {
      client.close();
      await server.stop();
    },
  };
};
