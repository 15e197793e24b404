import { grpcService, type GrpcService } from "../../src";
import { JSON_SERVICE, type JsonServer } from "./json-service";

/** Every service that the protocol declares. */
export const PROTOCOL_SERVICES = ["billing", "executions", "identity", "media", "models", "transform", "usage", "workflows"].map(
  (domain) => `nodeloom.${domain}.v1.${domain[0]!.toUpperCase()}${domain.slice(1)}Service`,
);

/** A service of this name with one method, for tests that never call it. */
export const serviceNamed = (name: string): GrpcService =>
  grpcService({ unary: { ...JSON_SERVICE.unary, path: `/${name}/Unary` } } as unknown as typeof JSON_SERVICE, {} as JsonServer);
