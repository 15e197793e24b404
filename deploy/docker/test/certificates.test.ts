import { execFile, execFileSync } from "node:child_process";
import { X509Certificate } from "node:crypto";
import { mkdtempSync, readFileSync, rmSync, statSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { Client, credentials, type handleUnaryCall, type ServiceDefinition, type UntypedServiceImplementation } from "@grpc/grpc-js";
import { createGrpcClient, createLogger, grpcService, startGrpcServer, unary, type TlsConfig } from "@nodeloom/platform";
import { billing } from "@nodeloom/proto";
import { loadCompose, readEnvFile, ROOT } from "./compose-file";

const DOCKER = join(ROOT, "deploy", "docker");
const SETTINGS = Object.fromEntries(Object.keys(readEnvFile(join(DOCKER, "example.env"))).map((name) => [name, "x"]));
/** Services with certificates in the compose file. */
const NAMES = loadCompose(SETTINGS).services.certs!.command!.slice(2);
const ACCOUNT = { userId: "u" };

const folder = mkdtempSync(join(tmpdir(), "nodeloom-certificates-"));
const authority = join(folder, "authority");
const certificates = join(folder, "certificates");
const makeCertificates = (into = certificates, by = authority, names = NAMES): string =>
  execFileSync(join(DOCKER, "make-certs.sh"), [by, into, ...names], { encoding: "utf8", stdio: ["ignore", "pipe", "pipe"] });
const tlsOf = (name: string, from = certificates): TlsConfig => ({
  TLS_CA_FILE: join(from, "authority.pem"),
  TLS_CERT_FILE: join(from, name, "certificate.pem"),
  TLS_KEY_FILE: join(from, name, "key.pem"),
});

interface ProbedServer extends UntypedServiceImplementation {
  getAccount: handleUnaryCall<billing.GetAccountRequest, billing.GetAccountResponse>;
}
/** One method of a real service is enough. */
const DEFINITION = { getAccount: billing.BillingServiceService.getAccount } as ServiceDefinition<ProbedServer>;
const handlers: ProbedServer = { getAccount: unary(() => Promise.resolve(billing.GetAccountResponse.fromPartial({}))) };

let server: Awaited<ReturnType<typeof startGrpcServer>>;
beforeAll(async () => {
  makeCertificates();
  server = await startGrpcServer({
    // On an address other than loopback, a server without mutual TLS doesn't start.
    listen: "0.0.0.0:0",
    services: [grpcService(DEFINITION, handlers)],
    logger: createLogger("certificates-test", "silent"),
    tls: tlsOf("billing"),
  });
});
afterAll(async () => {
  await server.stop();
  rmSync(folder, { recursive: true });
});

/** Limit for a promise that never settles. */
const PATIENCE_MS = 60_000;

const call = async (tls: TlsConfig, host = "localhost"): Promise<unknown> => {
  const client = createGrpcClient<ProbedServer>(DEFINITION, { address: `${host}:${server.port}`, tls });
  try {
    return await client.getAccount(ACCOUNT, { deadlineMs: PATIENCE_MS });
  } finally {
    client.close();
  }
};

describe("the certificates", () => {
  it("name their service, and can be used by both sides of a call", () => {
    for (const name of NAMES) {
      const certificate = new X509Certificate(readFileSync(join(certificates, name, "certificate.pem")));
      expect(certificate.checkHost(name)).toBe(name);
      expect(certificate.checkHost("localhost")).toBe("localhost");
      expect(NAMES.filter((other) => certificate.checkHost(other))).toEqual([name]);
      expect(certificate.ca).toBe(false);
      expect(certificate.keyUsage).toEqual(["1.3.6.1.5.5.7.3.1", "1.3.6.1.5.5.7.3.2"]);
    }
  });

  it("let one service call another", async () => {
    await expect(call(tlsOf("gateway"))).resolves.toEqual(billing.GetAccountResponse.fromPartial({}));
  });

  it("reject a caller without a certificate", async () => {
    const client = new Client(`localhost:${server.port}`, credentials.createSsl(readFileSync(join(certificates, "authority.pem"))));
    const { path, requestSerialize, responseDeserialize } = DEFINITION.getAccount;
    const answer = new Promise((resolve, reject) => {
      const options = { deadline: Date.now() + PATIENCE_MS };
      client.makeUnaryRequest(path, requestSerialize, responseDeserialize, ACCOUNT, options, (error, reply) =>
        error ? reject(error) : resolve(reply),
      );
    });
    await expect(answer).rejects.toMatchObject({ code: 14 });
    client.close();
  });

  it("reject a caller in plain text", async () => {
    await expect(call({})).rejects.toMatchObject({ reason: "SERVICE_UNAVAILABLE" });
  });

  it("reject a caller with a certificate of another authority", async () => {
    const foreign = join(folder, "foreign");
    makeCertificates(foreign, join(folder, "foreign-authority"), ["gateway"]);
    const stranger = { ...tlsOf("gateway", foreign), TLS_CA_FILE: join(certificates, "authority.pem") };
    await expect(call(stranger)).rejects.toMatchObject({ reason: "SERVICE_UNAVAILABLE" });
  });

  it("reject a server with another service's certificate", async () => {
    const { TLS_CA_FILE: ca, TLS_KEY_FILE: key, TLS_CERT_FILE: certificate } = tlsOf("gateway");
    const channel = credentials.createSsl(readFileSync(ca!), readFileSync(key!), readFileSync(certificate!));
    const client = new Client(`localhost:${server.port}`, channel, { "grpc.ssl_target_name_override": "identity" });
    const ready = new Promise((resolve, reject) => {
      client.waitForReady(Date.now() + 1_500, (error) => (error ? reject(error) : resolve(undefined)));
    });
    await expect(ready).rejects.toThrow();
    client.close();
  });

  it("don't change when they are created again, and a lost one is replaced", () => {
    const before = NAMES.map((name) => readFileSync(join(certificates, name, "certificate.pem"), "utf8"));
    expect(makeCertificates()).toBe("");
    const copy = join(folder, "copy");
    makeCertificates(copy, join(folder, "copy-authority"), ["gateway", "billing"]);
    rmSync(join(copy, "billing", "key.pem"));
    expect(makeCertificates(copy, join(folder, "copy-authority"), ["gateway", "billing"])).toBe("made a certificate for billing\n");
    expect(NAMES.map((name) => readFileSync(join(certificates, name, "certificate.pem"), "utf8"))).toEqual(before);
  });

  it("are all replaced if the authority is new", () => {
    const [by, into] = [join(folder, "renewed-authority"), join(folder, "renewed")];
    makeCertificates(into, by, ["gateway", "billing"]);
    rmSync(by, { recursive: true });
    expect(makeCertificates(into, by, ["gateway", "billing"])).toMatch(/new authority\n.*for gateway\n.*for billing\n$/);
  });

  it("can be read only by their owner, and are stored apart from the authority's key", () => {
    const isPrivate = (path: string): boolean => (statSync(path).mode & 0o077) === 0;
    expect(NAMES.every((name) => isPrivate(join(certificates, name, "key.pem")))).toBe(true);
    expect(isPrivate(join(authority, "key.pem"))).toBe(true);
    const { services } = loadCompose(SETTINGS);
    const seeing = Object.entries(services).filter(([, { volumes = [] }]) => volumes.some((volume) => volume.startsWith("authority:")));
    expect(seeing.map(([name]) => name)).toEqual(["certs"]);
  });
});

describe("the health probe", () => {
  const probe = async (env: Record<string, string>): Promise<{ code: number; stderr: string }> =>
    promisify(execFile)(process.execPath, [join(DOCKER, "health.mjs")], { env }).then(
      ({ stderr }) => ({ code: 0, stderr }),
      (error: { code: number; stderr: string }) => ({ code: error.code, stderr: error.stderr }),
    );

  it("passes and fails with the response of the operations port", async () => {
    let status = 200;
    const http = createServer((request, response) => response.writeHead(request.url === "/readyz" ? status : 404).end());
    await new Promise<void>((resolve) => http.listen(0, "127.0.0.1", resolve));
    const env = { OPS_LISTEN: `0.0.0.0:${(http.address() as AddressInfo).port}` };
    expect(await probe(env)).toEqual({ code: 0, stderr: "" });
    status = 503;
    expect(await probe(env)).toEqual({ code: 1, stderr: "/readyz answers 503\n" });
    await new Promise((resolve) => http.close(resolve));
    const [removed, untold] = await Promise.all([probe(env), probe({})]);
    expect(removed).toMatchObject({ code: 1, stderr: expect.stringContaining("ECONNREFUSED") as string });
    expect(untold).toMatchObject({ code: 1, stderr: expect.stringContaining("OPS_LISTEN") as string });
  });
});
