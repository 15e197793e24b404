import { grpcService, type GrpcService } from "../../src";
import { SERVICES } from "../../../../deploy/services.cjs";
import { JSON_SERVICE, type JsonServer } from "./json-service";

/** Every service that the protocol declares. */
export const PROTOCOL_SERVICES = SERVICES.flatMap(({ name, protocol }) =>
  protocol === "grpc" ? [`nodeloom.${name}.v1.${name[0]!.toUpperCase()}${name.slice(1)}Service`] : [],
).sort();

/** A service of this name with one method, for tests that never call it. */
export const serviceNamed = (name: string): GrpcService =>
  grpcService({ unary: { ...JSON_SERVICE.unary, path: `/${name}/Unary` } } as unknown as typeof JSON_SERVICE, {} as JsonServer);
