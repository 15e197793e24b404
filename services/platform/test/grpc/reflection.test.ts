import { once } from "node:events";
import { join } from "node:path";
import { credentials, loadPackageDefinition, type Client, type ServiceClientConstructor } from "@grpc/grpc-js";
import { loadFileDescriptorSetFromBuffer, loadSync } from "@grpc/proto-loader";
import { BinaryWriter } from "@bufbuild/protobuf/wire";
import { createLogger, startGrpcServer } from "../../src";
import { readFields } from "../../src/grpc/wire";
import { PROTOCOL_SERVICES, serviceNamed } from "../support/protocol-services";

const logger = createLogger("test", "silent");
const REFLECTION_PROTO = join(require.resolve("@grpc/reflection"), "../../proto/grpc/reflection/v1/reflection.proto");

interface Answer {
  listServicesResponse: { service: { name: string }[] } | null;
  fileDescriptorResponse: { fileDescriptorProto: Buffer[] } | null;
  errorResponse: { errorMessage: string } | null;
}
interface Reflection {
  listed: string[];
  /** FileDescriptorProtos in encoded form. */
  files(request: object): Promise<Buffer[]>;
}

/** Queries a server in the same way as grpcurl: over one stream, first for symbols, then for the files that they import. */
const withReflection = async (names: string[], use: (reflection: Reflection) => Promise<void>): Promise<void> => {
  const server = await startGrpcServer({ listen: "127.0.0.1:0", services: names.map(serviceNamed), logger });
  const definition = loadPackageDefinition(loadSync(REFLECTION_PROTO, { keepCase: false, defaults: true, oneofs: true }));
  const { ServerReflection } = (definition.grpc as never as { reflection: { v1: Record<string, ServiceClientConstructor> } }).reflection.v1;
  const client = new ServerReflection!(`127.0.0.1:${server.port}`, credentials.createInsecure()) as unknown as Client & {
    serverReflectionInfo(): NodeJS.EventEmitter & { write(message: object): void; end(): void };
  };
  const stream = client.serverReflectionInfo();
  const ask = async (request: object): Promise<Answer> => {
    stream.write(request);
    const [answer] = (await once(stream, "data")) as [Answer];
    if (answer.errorResponse) throw new Error(`${JSON.stringify(request)}: ${answer.errorResponse.errorMessage}`);
    return answer;
  };
  try {
    const listed = (await ask({ listServices: "*" })).listServicesResponse!.service.map(({ name }) => name);
    await use({ listed, files: async (request) => (await ask(request)).fileDescriptorResponse!.fileDescriptorProto });
  } finally {
    stream.end();
    client.close();
    await server.stop();
  }
};

const text = (bytes: Uint8Array): string => Buffer.from(bytes).toString("utf8");
const nameOf = (file: Uint8Array): string => text(readFields(file).find(({ number }) => number === 1)!.bytes);
const importsOf = (file: Uint8Array): string[] =>
  readFields(file)
    .filter(({ number }) => number === 3)
    .map(({ bytes }) => text(bytes));

/** The files of a symbol and its imports, each requested by name, as one FileDescriptorSet. */
const descriptorSet = async ({ files }: Reflection, symbol: string): Promise<{ names: string[]; set: Buffer }> => {
  const filesByName = new Map<string, Buffer>();
  const take = async (file: Buffer): Promise<void> => {
    if (filesByName.has(nameOf(file))) return;
    filesByName.set(nameOf(file), file);
    for (const name of importsOf(file)) for (const imported of await files({ fileByFilename: name })) await take(imported);
  };
  for (const file of await files({ fileContainingSymbol: symbol })) await take(file);
  const writer = new BinaryWriter();
  for (const file of filesByName.values()) writer.uint32(10).bytes(file);
  return { names: [...filesByName.keys()], set: Buffer.from(writer.finish()) };
};

describe("reflection", () => {
  it("lists the services and health", async () => {
    await withReflection(PROTOCOL_SERVICES.slice(0, 2), ({ listed }) => {
      expect(listed.sort()).toEqual(["grpc.health.v1.Health", ...PROTOCOL_SERVICES.slice(0, 2)].sort());
      return Promise.resolve();
    });
  });

  it.each(PROTOCOL_SERVICES)("describes %s with all of its imports", async (service) => {
    await withReflection([service], async (reflection) => {
      const { names, set } = await descriptorSet(reflection, service);
      expect(names).toContain(`nodeloom/${service.split(".")[1]}/v1/${service.split(".")[1]}.proto`);
      expect(Object.keys(loadFileDescriptorSetFromBuffer(set)[service]!).length).toBeGreaterThan(0);
    });
  });

  it("describes health and well-known types by their own names", async () => {
    await withReflection([PROTOCOL_SERVICES[0]!], async (reflection) => {
      const health = await descriptorSet(reflection, "grpc.health.v1.Health");
      expect(Object.keys(loadFileDescriptorSetFromBuffer(health.set)["grpc.health.v1.Health"]!)).toContain("Check");
      expect((await descriptorSet(reflection, "google.protobuf.Timestamp")).names).toEqual(["google/protobuf/timestamp.proto"]);
    });
  });
});
