import { BinaryReader, BinaryWriter } from "@bufbuild/protobuf/wire";
import { Metadata, status, type ServiceError } from "@grpc/grpc-js";
import { DomainError, REASONS, unavailable, type ErrorKind, type Reason } from "@nodeloom/kernel";
import { isDatabaseAway } from "../mongo";

/** The one place where kinds of error meet gRPC status codes. */
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
const LENGTH_DELIMITED = 2;
const tag = (field: number): number => (field << 3) | LENGTH_DELIMITED;

/** google.rpc.Status with one google.rpc.ErrorInfo; metadata values travel as JSON text. */
const encodeDetails = (code: status, error: DomainError): Buffer => {
  const info = new BinaryWriter();
  info.uint32(tag(1)).string(error.reason).uint32(tag(2)).string(DOMAIN);
  for (const [key, value] of Object.entries(error.metadata)) {
    info
      .uint32(tag(3))
      .fork()
      .uint32(tag(1))
      .string(key)
      .uint32(tag(2))
      .string(JSON.stringify(value ?? null))
      .join();
  }
  const writer = new BinaryWriter();
  writer.uint32(8).int32(code).uint32(tag(2)).string(error.message);
  writer.uint32(tag(3)).fork().uint32(tag(1)).string(ERROR_INFO_TYPE).uint32(tag(2)).bytes(info.finish()).join();
  return Buffer.from(writer.finish());
};

/** The length-delimited fields of a message, by number; other fields are skipped. */
const fields = (bytes: Uint8Array): { number: number; bytes: Uint8Array }[] => {
  const reader = new BinaryReader(bytes);
  const found: { number: number; bytes: Uint8Array }[] = [];
  while (reader.pos < reader.len) {
    const [number, wireType] = reader.tag();
    if (Number(wireType) === LENGTH_DELIMITED) found.push({ number, bytes: reader.bytes() });
    else reader.skip(wireType, number);
  }
  return found;
};
const text = (bytes: Uint8Array | undefined): string => Buffer.from(bytes ?? []).toString("utf8");

const decodeDetails = (bytes: Uint8Array): { reason: string; metadata: Record<string, unknown> } | undefined => {
  for (const detail of fields(bytes).filter((field) => field.number === 3)) {
    const any = fields(detail.bytes);
    if (text(any.find((field) => field.number === 1)?.bytes) !== ERROR_INFO_TYPE) continue;
    const info = fields(any.find((field) => field.number === 2)?.bytes ?? new Uint8Array());
    const metadata: Record<string, unknown> = {};
    for (const entry of info.filter((field) => field.number === 3)) {
      const pair = fields(entry.bytes);
      metadata[text(pair.find((field) => field.number === 1)?.bytes)] = JSON.parse(text(pair.find((field) => field.number === 2)?.bytes));
    }
    return { reason: text(info.find((field) => field.number === 1)?.bytes), metadata };
  }
  return undefined;
};

/** What callers may know of an error: domain errors as they are, an absent database as unavailable, nothing of all others. */
const knownError = (error: unknown): DomainError => {
  if (error instanceof DomainError) return error;
  return isDatabaseAway(error) ? unavailable("the database is away") : new DomainError("internal", "INTERNAL", "internal error");
};

/** A service's error as a gRPC error. */
export const toServiceError = (error: unknown): Partial<ServiceError> & { code: status } => {
  const known = knownError(error);
  const code = STATUS_BY_KIND[known.kind];
  const metadata = new Metadata();
  metadata.set(DETAILS_KEY, encodeDetails(code, known));
  return { code, details: known.message, metadata };
};

const isServiceError = (error: unknown): error is ServiceError =>
  error instanceof Error && typeof (error as Partial<ServiceError>).code === "number" && "details" in error;

const isReason = (reason: string): reason is Reason => (REASONS as readonly string[]).includes(reason);

/** A failed call as a DomainError: what the callee raised, or SERVICE_UNAVAILABLE when it could not be reached in time. */
export const fromServiceError = (error: unknown, callee: string): unknown => {
  if (!isServiceError(error)) return error;
  const details = error.metadata?.get(DETAILS_KEY)[0];
  const decoded = details instanceof Uint8Array ? decodeDetails(details) : undefined;
  if (decoded && isReason(decoded.reason)) {
    return new DomainError(KIND_BY_STATUS.get(error.code) ?? "internal", decoded.reason, error.details, decoded.metadata);
  }
  if (error.code === status.UNAVAILABLE || error.code === status.DEADLINE_EXCEEDED || error.code === status.CANCELLED) {
    return unavailable(`${callee} is not available`);
  }
  return new DomainError("internal", "INTERNAL", `${callee} failed`, {});
};
