import { Metadata, status, type ServiceError } from "@grpc/grpc-js";
import { DomainError, isReason, unavailable, wellFormed, type ErrorKind, type ErrorMetadata } from "@nodeloom/kernel";
import { ErrorInfo, Status } from "@nodeloom/proto";
import { isDatabaseUnavailable } from "../stores/mongo";

const STATUS_BY_KIND: Readonly<Record<ErrorKind, status>> = {
  invalid: status.INVALID_ARGUMENT,
  unauthenticated: status.UNAUTHENTICATED,
  forbidden: status.PERMISSION_DENIED,
  not_found: status.NOT_FOUND,
  conflict: status.ALREADY_EXISTS,
  precondition: status.FAILED_PRECONDITION,
  exhausted: status.RESOURCE_EXHAUSTED,
  unavailable: status.UNAVAILABLE,
  failed: status.ABORTED,
  internal: status.INTERNAL,
};
const KIND_BY_STATUS = new Map(Object.entries(STATUS_BY_KIND).map(([kind, code]) => [code, kind as ErrorKind]));

const DETAILS_KEY = "grpc-status-details-bin";
const ERROR_INFO_TYPE = "type.googleapis.com/google.rpc.ErrorInfo";
const DOMAIN = "nodeloom";

/** Details are sent in HTTP/2 trailers. Larger trailers aren't delivered, and the call would hang until its deadline. */
const MAX_METADATA_BYTES = 32 * 1024;
/** The error message is percent-encoded in the trailers. */
const MAX_MESSAGE_CHARACTERS = 2_000;

/** Cutting can leave half a character, which can't be percent-encoded. */
const shortened = (message: string): string =>
  wellFormed(message.length > MAX_MESSAGE_CHARACTERS ? `${message.slice(0, MAX_MESSAGE_CHARACTERS - 1)}…` : message);

/** Converts a value to JSON of limited size. A list is shortened; any other value that is too long is omitted. */
const boundedJson = (value: unknown, bytes: number): string | undefined => {
  const whole = JSON.stringify(value ?? null) ?? "null";
  if (Buffer.byteLength(whole) <= bytes) return whole;
  if (!Array.isArray(value)) return undefined;
  let room = bytes - "[]".length;
  const items: string[] = [];
  for (const item of value) {
    const text = JSON.stringify(item ?? null) ?? "null";
    room -= Buffer.byteLength(text) + ",".length;
    if (room < 0) break;
    items.push(text);
  }
  return `[${items.join(",")}]`;
};

const boundedMetadata = (metadata: ErrorMetadata): [string, string][] => {
  let room = MAX_METADATA_BYTES;
  return Object.entries(metadata).flatMap(([key, value]): [string, string][] => {
    const text = boundedJson(value, room);
    if (text === undefined) return [];
    room -= Buffer.byteLength(text);
    return [[key, text]];
  });
};

const encodeDetails = (code: status, error: DomainError): Buffer => {
  const info = ErrorInfo.fromPartial({
    reason: error.reason,
    domain: DOMAIN,
    metadata: Object.fromEntries(boundedMetadata(error.metadata)),
  });
  const details = [{ typeUrl: ERROR_INFO_TYPE, value: Buffer.from(ErrorInfo.encode(info).finish()) }];
  return Buffer.from(Status.encode(Status.fromPartial({ code, message: shortened(error.message), details })).finish());
};

interface Details {
  reason: string;
  metadata: Record<string, unknown>;
}

const decodeDetails = (bytes: Uint8Array): Details | undefined => {
  try {
    const detail = Status.decode(bytes).details.find(({ typeUrl }) => typeUrl === ERROR_INFO_TYPE);
    if (!detail) return undefined;
    const { reason, metadata } = ErrorInfo.decode(detail.value);
    return { reason, metadata: Object.fromEntries(Object.entries(metadata).map(([key, json]) => [key, JSON.parse(json) as unknown])) };
  } catch {
    return undefined;
  }
};

/**
 * The error that callers get. Domain errors stay unchanged, an unavailable database becomes UNAVAILABLE, and other errors become INTERNAL.
 */
export const knownError = (error: unknown): DomainError => {
  if (error instanceof DomainError) return error;
  return isDatabaseUnavailable(error) ? unavailable("the database is away") : new DomainError("internal", "INTERNAL", "internal error");
};

export const toServiceError = (error: unknown): Partial<ServiceError> & { code: status } => {
  const domainError = knownError(error);
  const code = STATUS_BY_KIND[domainError.kind];
  const metadata = new Metadata();
  metadata.set(DETAILS_KEY, encodeDetails(code, domainError));
  return { code, details: shortened(domainError.message), metadata };
};

const isServiceError = (error: unknown): error is ServiceError =>
  error instanceof Error && typeof (error as Partial<ServiceError>).code === "number" && "details" in error;

const unanswered = new WeakSet<object>();

export const isUnanswered = (error: unknown): boolean => typeof error === "object" && error !== null && unanswered.has(error);

const OUTAGES: ReadonlySet<status> = new Set([status.UNAVAILABLE, status.DEADLINE_EXCEEDED, status.CANCELLED]);
/**
 * grpc-js uses these messages for a connection that breaks during a call. The code varies; for example, a killed service causes INTERNAL.
 */
const BROKEN_CONNECTION =
  /^(?:Received RST_STREAM|No status information received|Bandwidth exhausted|Write error|Failed to start HTTP\/2 stream|Connection dropped)/;

/**
 * Converts a failed call to a DomainError: the service's error, or SERVICE_UNAVAILABLE if the service couldn't be reached before the
 * deadline.
 */
export const fromServiceError = (error: unknown, callee: string): unknown => {
  if (!isServiceError(error)) return error;
  const details = error.metadata?.get(DETAILS_KEY)[0];
  const decoded = details instanceof Uint8Array ? decodeDetails(details) : undefined;
  if (decoded && isReason(decoded.reason)) {
    return new DomainError(KIND_BY_STATUS.get(error.code) ?? "internal", decoded.reason, error.details, decoded.metadata);
  }
  if (OUTAGES.has(error.code) || BROKEN_CONNECTION.test(error.details)) {
    const outage = unavailable(`${callee} is not available`);
    unanswered.add(outage);
    return outage;
  }
  return new DomainError("internal", "INTERNAL", `${callee} failed`, {});
};
