import { createServer } from "node:net";
import { once } from "node:events";
import {
  Client,
  credentials,
  loadPackageDefinition,
  Metadata,
  status,
  type GrpcObject,
  type ServiceClientConstructor,
} from "@grpc/grpc-js";
import { fromJSON, loadFileDescriptorSetFromBuffer } from "@grpc/proto-loader";
import { DomainError } from "@nodeloom/kernel";
import { ConfigError, createGrpcClient, createLogger, grpcService, serverStream, startGrpcServer, unary } from "../../src";
import { deferred } from "../../../../test-support/deferred";
import { JSON_SERVICE, SERVICE_NAME, startJsonService, type JsonServer } from "../support/json-service";

const logger = createLogger("test", "silent");
/** Limit that is reached only if the guarantee is broken. */
const LONG_MS = 60_000;
/** Much shorter than that, and much longer than a busy machine's delays. */
const SOON_MS = 20_000;
const services = [grpcService(JSON_SERVICE, { unary: unary(() => Promise.resolve("served")) } as unknown as JsonServer)];

/** A client that is created from a description, as by tools, without the platform's own client. */
const clientFrom = (schema: object, name: string, address: string): Client => {
  const service = name
    .split(".")
    .reduce<GrpcObject | GrpcObject[string]>(
      (scope, part) => (scope as GrpcObject)[part]!,
      loadPackageDefinition(fromJSON(schema as never)),
    );
  return new (service as ServiceClientConstructor)(address, credentials.createInsecure());
};
const field = (type: string, id: number, rule?: "repeated"): object => ({ type, id, ...(rule ? { rule } : {}) });
const nest = (path: string, nested: object): object =>
  path.split(".").reduceRight<object>((inner, part) => ({ nested: { [part]: inner } }), { nested });

const HEALTH = nest("grpc.health.v1", {
  Request: { fields: { service: field("string", 1) } },
  Response: { fields: { status: field("int32", 1) } },
  Health: {
    methods: {
      Check: { requestType: "Request", responseType: "Response" },
      Watch: { requestType: "Request", responseType: "Response", responseStream: true },
    },
  },
});
const SERVING = 1;
const NOT_SERVING = 2;

const REFLECTION = nest("grpc.reflection.v1", {
  Request: {
    oneofs: { ask: { oneof: ["fileContainingSymbol", "listServices"] } },
    fields: { fileContainingSymbol: field("string", 4), listServices: field("string", 7) },
  },
  Files: { fields: { fileDescriptorProto: field("bytes", 1, "repeated") } },
  Service: { fields: { name: field("string", 1) } },
  Services: { fields: { service: field("Service", 1, "repeated") } },
  Response: { fields: { fileDescriptorResponse: field("Files", 4), listServicesResponse: field("Services", 6) } },
  ServerReflection: {
    methods: { ServerReflectionInfo: { requestType: "Request", responseType: "Response", requestStream: true, responseStream: true } },
  },
});

type Call<Q, R> = (request: Q, callback: (error: { code: status } | null, response: R) => void) => void;
type HealthClient = Client & {
  Check: Call<{ service: string }, { status: number }>;
  Watch(request: { service: string }): NodeJS.EventEmitter & { cancel(): void };
};
const healthOf = (address: string): HealthClient => clientFrom(HEALTH, "grpc.health.v1.Health", address) as HealthClient;
const check = (client: HealthClient, service: string): Promise<number> =>
  new Promise((resolve, reject) =>
    client.Check({ service }, (error, response) => (error ? reject(new Error(status[error.code])) : resolve(response.status))),
  );

describe("a gRPC server", () => {
  it("answers health checks for itself and for each of its services", async () => {
    const server = await startGrpcServer({ listen: "127.0.0.1:0", services, logger });
    const client = healthOf(`127.0.0.1:${server.port}`);
    expect(await check(client, "")).toBe(SERVING);
    expect(await check(client, SERVICE_NAME)).toBe(SERVING);
    await expect(check(client, "nodeloom.other.v1.Other")).rejects.toThrow("NOT_FOUND");
    client.close();
    await server.stop();
  });

  it("reports over health that it stops, while a call still runs", async () => {
    const [start, go] = [deferred(), deferred()];
    const answer = async (): Promise<string> => {
      start.resolve();
      await go.promise;
      return "done";
    };
    const service = await startJsonService({ unary: unary(answer) }, { graceMs: LONG_MS });
    const client = healthOf(service.address);
    const watch = client.Watch({ service: "" });
    const statuses: number[] = [];
    watch.on("data", ({ status: reported }: { status: number }) => statuses.push(reported)).on("error", () => undefined);
    await once(watch, "data");
    const call = service.client.unary({}, { deadlineMs: LONG_MS });
    await start.promise;
    const stopped = service.stop();
    await once(watch, "data");
    expect(statuses).toEqual([SERVING, NOT_SERVING]);
    watch.cancel();
    client.close();
    go.resolve();
    expect(await call).toBe("done");
    await stopped;
  });

  it("describes its services by reflection", async () => {
    const server = await startGrpcServer({ listen: "127.0.0.1:0", services, logger });
    const client = clientFrom(REFLECTION, "grpc.reflection.v1.ServerReflection", `127.0.0.1:${server.port}`) as Client & {
      ServerReflectionInfo(): NodeJS.EventEmitter & { write(message: object): void; end(): void };
    };
    const ask = async <T>(request: object): Promise<T> => {
      const call = client.ServerReflectionInfo();
      call.write(request);
      const [answer] = (await once(call, "data")) as [T];
      call.end();
      return answer;
    };
    const { listServicesResponse } = await ask<{ listServicesResponse: { service: { name: string }[] } }>({ listServices: "*" });
    expect(listServicesResponse.service.map(({ name }) => name)).toContain(SERVICE_NAME);
    const { fileDescriptorResponse } = await ask<{ fileDescriptorResponse: { fileDescriptorProto: Buffer[] } }>({
      fileContainingSymbol: SERVICE_NAME,
    });
    // A FileDescriptorSet is a list of files, each with the tag of field 1.
    const varint = (length: number): number[] => (length < 128 ? [length] : [(length & 127) | 128, ...varint(length >> 7)]);
    const set = Buffer.concat(
      fileDescriptorResponse.fileDescriptorProto.flatMap((file) => [Buffer.from([0x0a, ...varint(file.length)]), file]),
    );
    expect(Object.keys(loadFileDescriptorSetFromBuffer(set)[SERVICE_NAME]!)).toEqual(
      expect.arrayContaining(["Hold", "Settle", "GetAccount"]),
    );
    client.close();
    await server.stop();
  });

  it("answers unknown methods with UNIMPLEMENTED, and a malformed message with an error", async () => {
    const server = await startGrpcServer({ listen: "127.0.0.1:0", services, logger });
    const client = new Client(`127.0.0.1:${server.port}`, credentials.createInsecure());
    const codeOf = (path: string, bytes: Buffer): Promise<status> =>
      new Promise((resolve) => {
        client.makeUnaryRequest(
          path,
          (value: Buffer) => value,
          (value) => value,
          bytes,
          new Metadata(),
          (error) => resolve(error ? error.code : status.OK),
        );
      });
    expect(await codeOf(`/${SERVICE_NAME}/Nothing`, Buffer.from("{}"))).toBe(status.UNIMPLEMENTED);
    expect(await codeOf("/nothing/Here", Buffer.from("{}"))).toBe(status.UNIMPLEMENTED);
    expect(await codeOf(`/${SERVICE_NAME}/Unary`, Buffer.from("no json"))).not.toBe(status.OK);
    expect(await codeOf(`/${SERVICE_NAME}/Unary`, Buffer.from("{}"))).toBe(status.OK);
    client.close();
    await server.stop();
  });

  it("logs a service's unexpected errors with that service's logger, even if another service shares its process", async () => {
    const events: string[] = [];
    const loggerOf = (name: string) => ({ error: () => events.push(name) }) as unknown as typeof logger;
    const failing = await startJsonService(
      { unary: unary(() => Promise.reject(new Error("unexpected"))) },
      { logger: loggerOf("billing") },
    );
    const definition = {
      unary: { ...JSON_SERVICE.unary, path: "/nodeloom.usage.v1.UsageService/Unary" },
    } as unknown as typeof JSON_SERVICE;
    const other = await startGrpcServer({
      listen: "127.0.0.1:0",
      services: [grpcService(definition, {} as JsonServer)],
      logger: loggerOf("usage"),
    });
    await expect(failing.client.unary({})).rejects.toBeInstanceOf(DomainError);
    expect(events).toEqual(["billing"]);
    await Promise.all([failing.stop(), other.stop()]);
  });
});

describe("the address of a gRPC server", () => {
  it.each(["0.0.0.0:0", "[::]:0", "10.0.0.1:0", "example.test:0", "127.0.0.2:0"])("can't be %s without mutual TLS", async (listen) => {
    const refusal = startGrpcServer({ listen, services, logger });
    await expect(refusal).rejects.toThrow(ConfigError);
    await expect(refusal).rejects.toThrow(/mutual TLS is required.*TLS_CERT_FILE, TLS_KEY_FILE, TLS_CA_FILE/);
  });

  it.each([{ TLS_CERT_FILE: "cert.pem" }, { TLS_CERT_FILE: "cert.pem", TLS_KEY_FILE: "key.pem" }])(
    "needs all of TLS, not only %j",
    async (tls) => {
      await expect(startGrpcServer({ listen: "127.0.0.1:0", services, logger, tls })).rejects.toThrow(/or none/);
      expect(() => createGrpcClient<JsonServer>(JSON_SERVICE, { address: "127.0.0.1:1", tls })).toThrow(/or none/);
    },
  );

  it.each(["127.0.0.1:0", "localhost:0"])("can be %s", async (listen) => {
    await (await startGrpcServer({ listen, services, logger })).stop();
  });

  it("is reported if it is occupied", async () => {
    const occupied = createServer().listen(0, "127.0.0.1");
    await once(occupied, "listening");
    const { port } = occupied.address() as { port: number };
    await expect(startGrpcServer({ listen: `127.0.0.1:${port}`, services, logger })).rejects.toThrow(/EADDRINUSE/);
    occupied.close();
  });
});

describe("a stop", () => {
  it("lets a running call finish, and rejects new ones", async () => {
    const go = deferred();
    const started = deferred();
    const service = await startJsonService(
      {
        unary: unary(async () => {
          started.resolve();
          await go.promise;
          return "finished";
        }),
      },
      { graceMs: LONG_MS },
    );
    const call = service.client.unary({}, { deadlineMs: LONG_MS });
    await started.promise;
    let stopped = false;
    const stopping = service.stop().then(() => (stopped = true));
    const late = createGrpcClient<JsonServer>(JSON_SERVICE, { address: service.address });
    await expect(late.unary({}, { deadlineMs: 500 })).rejects.toMatchObject({ reason: "SERVICE_UNAVAILABLE" });
    late.close();
    expect(stopped).toBe(false);
    go.resolve();
    expect(await call).toBe("finished");
    await stopping;
  });

  it("ends running calls after the grace period", async () => {
    const started = deferred();
    const aborted = deferred();
    const service = await startJsonService(
      {
        stream: serverStream(async function* (_request, signal) {
          yield 1;
          started.resolve();
          await once(signal, "abort");
          aborted.resolve();
        }),
      },
      { graceMs: 200 },
    );
    const reading = (async () => {
      for await (const message of service.client.stream({}, { deadlineMs: LONG_MS })) expect(message).toBe(1);
    })();
    const failed = expect(reading).rejects.toMatchObject({ reason: "SERVICE_UNAVAILABLE" });
    await started.promise;
    const startedAt = Date.now();
    await service.stop();
    const took = Date.now() - startedAt;
    expect(took).toBeGreaterThanOrEqual(190);
    expect(took).toBeLessThan(SOON_MS);
    await failed;
    await aborted.promise;
  });

  it("is quick if nothing runs, even if clients stay connected", async () => {
    const service = await startJsonService({ unary: unary(() => Promise.resolve("done")) }, { graceMs: LONG_MS });
    const idle = createGrpcClient<JsonServer>(JSON_SERVICE, { address: service.address });
    expect(await idle.unary({})).toBe("done");
    const startedAt = Date.now();
    await service.stop();
    expect(Date.now() - startedAt).toBeLessThan(SOON_MS);
    idle.close();
  });
});
