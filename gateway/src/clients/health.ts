import type { handleUnaryCall, ServiceDefinition, UntypedServiceImplementation } from "@grpc/grpc-js";
import { createGrpcClient, type TlsConfig } from "@nodeloom/platform";

const PROBE_DEADLINE_MS = 1_000;
/** grpc.health.v1.HealthCheckResponse with its only field, status = SERVING. */
const SERVING = Buffer.from([0x08, 0x01]);

interface HealthServer extends UntypedServiceImplementation {
  check: handleUnaryCall<object, { serving: boolean }>;
}

/** grpc.health.v1.Health/Check for the whole server: an empty request, and one enum in the response. */
const HEALTH: ServiceDefinition = {
  check: {
    path: "/grpc.health.v1.Health/Check",
    requestStream: false,
    responseStream: false,
    requestSerialize: () => Buffer.alloc(0),
    requestDeserialize: () => ({}),
    responseSerialize: () => SERVING,
    responseDeserialize: (bytes: Buffer) => ({ serving: bytes.equals(SERVING) }),
  },
};

export interface HealthProbe {
  serving(): Promise<boolean>;
  close(): void;
}

export const createHealthProbe = (options: { address: string; tls: TlsConfig }): HealthProbe => {
  const client = createGrpcClient<HealthServer>(HEALTH, options);
  return {
    serving: () =>
      client.check({}, { deadlineMs: PROBE_DEADLINE_MS }).then(
        ({ serving }) => serving,
        () => false,
      ),
    close: () => client.close(),
  };
};
