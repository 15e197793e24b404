import { status } from "@grpc/grpc-js";
import { Client, Connection, isGrpcServiceError, WorkflowNotFoundError } from "@temporalio/client";
import { unavailable } from "@nodeloom/kernel";
import { STARTUP_PATIENCE_MS } from "../work/startup";
import type { TemporalSecurity } from "./security";

const UNREACHABLE: readonly (status | undefined)[] = [
  status.UNAVAILABLE,
  status.DEADLINE_EXCEEDED,
  status.RESOURCE_EXHAUSTED,
  status.CANCELLED,
];

/** Converts an error that means "Temporal can't be reached" to SERVICE_UNAVAILABLE. Other errors stay unchanged. */
export const translateTemporal = (error: unknown, message: string): unknown => {
  const cause = error instanceof Error && error.cause !== undefined ? error.cause : error;
  const code = isGrpcServiceError(error) ? error.code : isGrpcServiceError(cause) ? cause.code : undefined;
  return code !== undefined && UNREACHABLE.includes(code) ? unavailable(message, 2) : error;
};

export const isNotFound = (error: unknown): boolean =>
  error instanceof WorkflowNotFoundError || (isGrpcServiceError(error) && error.code === status.NOT_FOUND);

export interface TemporalServer {
  address: string;
  security?: TemporalSecurity;
  namespace: string;
}

/** Calls Temporal once, for a command. Waits for Temporal as a starting service does. */
export const withTemporal = async <T>(
  { address, security, namespace }: TemporalServer,
  work: (client: Client) => Promise<T>,
): Promise<T> => {
  const connection = await Connection.connect({ address, connectTimeout: STARTUP_PATIENCE_MS, ...security });
  try {
    return await work(new Client({ connection, namespace }));
  } finally {
    await connection.close();
  }
};
