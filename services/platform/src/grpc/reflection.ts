import { readFileSync } from "node:fs";
import type { EnumTypeDefinition } from "@grpc/proto-loader";
import { ReflectionService } from "@grpc/reflection";
import { descriptorsFile } from "@nodeloom/proto";
import { readFields } from "./wire";

const HEALTH_SERVICE = "grpc.health.v1.Health";
const HEALTH_FILE = "health/v1/health.proto";

/** Field numbers of google.protobuf.FileDescriptorSet (FILE) and FileDescriptorProto. */
const FILE = 1;
const NAME = 1;
const DEPENDENCY = 3;

interface ProtoFile {
  name: string;
  imports: string[];
  bytes: Buffer;
}

const readProtoFile = (bytes: Uint8Array): ProtoFile => {
  const fields = readFields(bytes);
  const texts = (fieldNumber: number): string[] =>
    fields.filter(({ number }) => number === fieldNumber).map((field) => Buffer.from(field.bytes).toString("utf8"));
  return { name: texts(NAME).join(), imports: texts(DEPENDENCY), bytes: Buffer.from(bytes) };
};

/** The compiled protocol by file name. The descriptors of proto-loader omit imports. */
const readProtocol = (): Map<string, ProtoFile> => {
  const files = readFields(readFileSync(descriptorsFile)).filter(({ number }) => number === FILE);
  return new Map(files.map(({ bytes }) => readProtoFile(bytes)).map((file) => [file.name, file]));
};

/** Finds a service's file by naming convention: `nodeloom.billing.v1.BillingService` is in nodeloom/billing/v1/billing.proto. */
const declaringFile = (service: string): string => {
  const [scope, domain, version] = service.split(".");
  return `${scope}/${domain}/${version}/${domain}.proto`;
};

const descriptorsOf = (services: readonly string[]): Buffer[] => {
  const protocol = readProtocol();
  const files = new Map<string, ProtoFile>();
  const add = (name: string): void => {
    const file = protocol.get(name);
    if (file === undefined) throw new Error(`${name} is not in ${descriptorsFile}: build the protocol anew`);
    if (files.has(name)) return;
    files.set(name, file);
    file.imports.forEach(add);
  };
  [...services.map(declaringFile), HEALTH_FILE].forEach(add);
  return [...files.values()].map(({ bytes }) => bytes);
};

/** Server reflection for the named services and the health service, for grpcurl and Postman. */
export const createReflection = (services: readonly string[]): ReflectionService => {
  // Contains only files, because the reflection service reads nothing else.
  const protocol: EnumTypeDefinition = {
    format: "Protocol Buffer 3 EnumDescriptorProto",
    type: {},
    fileDescriptorProtos: descriptorsOf(services),
  };
  return new ReflectionService({ protocol }, { services: [...services, HEALTH_SERVICE] });
};
