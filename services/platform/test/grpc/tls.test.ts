import { X509Certificate } from "node:crypto";
import fs from "node:fs";
import { readFile, writeFile } from "node:fs/promises";
import { connect } from "node:tls";
import { Client, credentials, Metadata, status } from "@grpc/grpc-js";
import {
  createGrpcClient,
  createLogger,
  grpcService,
  startGrpcServer,
  unary,
  type ClientOf,
  type RunningGrpcServer,
  type TlsConfig,
} from "../../src";
import { makeCertificates, type TestCertificates } from "../../../../test-support/certificates";
import { JSON_SERVICE, type JsonServer } from "../support/json-service";
import { eventually } from "../../../../test-support/eventually";

const logger = createLogger("test", "silent");
const RELOAD_MS = 100;

let certificates: TestCertificates;
let server: RunningGrpcServer;
const tlsOf = (service: string): TlsConfig => ({ ...certificates.of(service), TLS_RELOAD_MS: RELOAD_MS });
const clientOf = (service: string): ClientOf<JsonServer> =>
  createGrpcClient<JsonServer>(JSON_SERVICE, { address: `localhost:${server.port}`, tls: tlsOf(service) });

/** Error code of a call; undefined if it succeeded. */
const codeOf = async (files: ReturnType<TestCertificates["of"]>, port: number, path: string): Promise<status | undefined> => {
  const [ca, key, cert] = await Promise.all([files.TLS_CA_FILE, files.TLS_KEY_FILE, files.TLS_CERT_FILE].map((file) => readFile(file)));
  const client = new Client(`localhost:${port}`, credentials.createSsl(ca, key, cert));
  return new Promise<status | undefined>((resolve) =>
    client.makeUnaryRequest(
      path,
      () => Buffer.from("{}"),
      (bytes) => bytes,
      {},
      new Metadata(),
      (error) => resolve(error?.code),
    ),
  ).finally(() => client.close());
};

beforeAll(async () => {
  certificates = await makeCertificates("billing", "gateway", "executions", "media");
  const services = [grpcService(JSON_SERVICE, { unary: unary(() => Promise.resolve("served")) } as unknown as JsonServer)];
  server = await startGrpcServer({ listen: "127.0.0.1:0", services, logger, tls: tlsOf("billing") });
});
afterAll(async () => {
  await server?.stop();
  await certificates?.remove();
});

describe("the callers of billing", () => {
  it.each(["gateway", "executions", "billing"])("%s may", async (caller) => {
    const client = clientOf(caller);
    expect(await client.unary({})).toBe("served");
    client.close();
  });

  it.each([
    "/nodeloom.billing.v1.BillingService/Unary",
    "/grpc.health.v1.Health/Check",
    "/grpc.reflection.v1.ServerReflection/ServerReflectionInfo",
  ])("don't include media: PERMISSION_DENIED on %s", async (path) => {
    expect(await codeOf(certificates.of("media"), server.port, path)).toBe(status.PERMISSION_DENIED);
  });

  it.each([
    ["values of secrets", "/nodeloom.identity.v1.IdentityService/ReadSecrets", ["executions", "models"]],
    ["tokens that are mailed", "/nodeloom.identity.v1.AddressService/CreateMailedReset", ["executions"]],
  ])("%s can be used only by the services that send them, and by no other caller of identity", async (_what, path, senders) => {
    const own = await makeCertificates("identity", "gateway", "executions", "models");
    const definition = { unary: { ...JSON_SERVICE.unary, path } };
    const services = [{ definition, handlers: { unary: unary(() => Promise.resolve("a value")) } }];
    const identity = await startGrpcServer({ listen: "127.0.0.1:0", services, logger, tls: own.of("identity") });
    const callers = ["executions", "models", "gateway"];
    const codes = callers.map((caller) => codeOf(own.of(caller), identity.port, path));
    expect(await Promise.all(codes)).toEqual(callers.map((caller) => (senders.includes(caller) ? undefined : status.PERMISSION_DENIED)));
    await identity.stop();
    await own.remove();
  });

  it("a certificate of another authority can't connect at all", async () => {
    const others = await makeCertificates("gateway");
    const tls = {
      ...certificates.of("gateway"),
      TLS_CERT_FILE: others.of("gateway").TLS_CERT_FILE,
      TLS_KEY_FILE: others.of("gateway").TLS_KEY_FILE,
    };
    const client = createGrpcClient<JsonServer>(JSON_SERVICE, { address: `localhost:${server.port}`, tls });
    await expect(client.unary({}, { deadlineMs: 1_000 })).rejects.toMatchObject({ reason: "SERVICE_UNAVAILABLE" });
    client.close();
    await others.remove();
  });
});

/** Serial number of the server's certificate on a new connection. */
const shownNames = async (): Promise<string> => {
  const { TLS_CA_FILE, TLS_KEY_FILE, TLS_CERT_FILE } = certificates.of("gateway");
  const [ca, key, cert] = await Promise.all([TLS_CA_FILE, TLS_KEY_FILE, TLS_CERT_FILE].map((file) => readFile(file)));
  return new Promise((resolve, reject) => {
    const socket = connect({ host: "127.0.0.1", port: server.port, servername: "localhost", ca, key, cert, ALPNProtocols: ["h2"] }, () => {
      resolve(socket.getPeerX509Certificate()!.serialNumber);
      socket.destroy();
    });
    socket.once("error", reject);
  });
};
const serialOf = async (service: string): Promise<string> =>
  new X509Certificate(await readFile(certificates.of(service).TLS_CERT_FILE)).serialNumber;
describe("a renewed certificate", () => {
  it("is used for new connections without a restart, and calls continue", async () => {
    const client = clientOf("gateway");
    const before = await shownNames();
    await certificates.renew("billing");
    await eventually(async () => (await shownNames()) === (await serialOf("billing")));
    expect(await shownNames()).not.toBe(before);
    expect(await client.unary({})).toBe("served");
    client.close();
  });

  it("changes nothing while its key is missing or doesn't match", async () => {
    const { TLS_KEY_FILE } = certificates.of("billing");
    const [key, before] = [await readFile(TLS_KEY_FILE), await shownNames()];
    await writeFile(TLS_KEY_FILE, await readFile(certificates.of("media").TLS_KEY_FILE));
    const readSpy = jest.spyOn(fs, "readFileSync");
    await eventually(() => readSpy.mock.calls.filter(([path]) => path === TLS_KEY_FILE).length > 1);
    readSpy.mockRestore();
    expect(await shownNames()).toBe(before);
    await writeFile(TLS_KEY_FILE, key);
  });
});
