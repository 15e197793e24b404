import { readFileSync } from "node:fs";
import { connect, type AddressInfo } from "node:net";
import { createServer, type TLSSocket } from "node:tls";
import { createLogger, splitHostPort, temporalSecurity } from "../../src";
import { NativeConnection } from "@temporalio/worker";
import { makeCertificates, type TestCertificates } from "../../../../test-support/certificates";
import { startRelay } from "../../../../test-support/relay";
import { connectTemporal } from "../../src/temporal/worker";

/**
 * Temporal that is unavailable at first, and Temporal behind mutual TLS: a proxy that ends TLS, requires a certificate and forwards the
 * bytes.
 */

let certificates: TestCertificates;
let address: string;
let front: ReturnType<typeof createServer>;
const sockets = new Set<TLSSocket>();

beforeAll(async () => {
  certificates = await makeCertificates("temporal", "executions");
  const { TLS_CA_FILE, TLS_CERT_FILE, TLS_KEY_FILE } = certificates.of("temporal");
  const [ca, cert, key] = [TLS_CA_FILE, TLS_CERT_FILE, TLS_KEY_FILE].map((file) => readFileSync(file));
  const target = splitHostPort(process.env.TEMPORAL_ADDRESS!);
  front = createServer(
    { ca: ca!, cert: cert!, key: key!, requestCert: true, rejectUnauthorized: true, ALPNProtocols: ["h2"] },
    (incoming) => {
      sockets.add(incoming);
      const outgoing = connect(target.port, target.host);
      incoming.pipe(outgoing).on("error", () => incoming.destroy());
      outgoing.pipe(incoming).on("error", () => outgoing.destroy());
    },
  );
  await new Promise<void>((resolve) => front.listen(0, "127.0.0.1", resolve));
  address = `127.0.0.1:${(front.address() as AddressInfo).port}`;
});
afterAll(async () => {
  for (const socket of sockets) socket.destroy();
  await new Promise((resolve) => front.close(resolve));
  await certificates.remove();
});

it("is reached with a certificate of its authority, under its own certificate's name", async () => {
  const { TLS_CA_FILE, TLS_CERT_FILE, TLS_KEY_FILE } = certificates.of("executions");
  const security = temporalSecurity({
    TEMPORAL_TLS_CA_FILE: TLS_CA_FILE,
    TEMPORAL_TLS_CERT_FILE: TLS_CERT_FILE,
    TEMPORAL_TLS_KEY_FILE: TLS_KEY_FILE,
    TEMPORAL_TLS_SERVER_NAME: "temporal",
  });
  const connection = await NativeConnection.connect({ address, ...security });
  expect((await connection.workflowService.getSystemInfo({})).serverVersion).toMatch(/^\d+\./);
  await connection.close();
});

it("is not reached without a certificate", async () => {
  const { TLS_CA_FILE } = certificates.of("executions");
  const security = temporalSecurity({ TEMPORAL_TLS_CA_FILE: TLS_CA_FILE, TEMPORAL_TLS_SERVER_NAME: "temporal" });
  await expect(NativeConnection.connect({ address, ...security })).rejects.toThrow();
});

it("is awaited by a starting process", async () => {
  const relay = await startRelay(`http://${process.env.TEMPORAL_ADDRESS!}`);
  await relay.cut();
  const logger = createLogger("test", "silent");
  const waiting = new Promise((resolve) => jest.spyOn(logger, "warn").mockImplementation(resolve));
  const connecting = connectTemporal({
    ...{ address: new URL(relay.url).host, namespace: "default", taskQueue: "unused", logger },
    ...{ workflowBundle: { codePath: __filename }, shutdownGraceMs: 1_000 },
  });
  await waiting;
  await relay.mend();
  const temporal = await connecting;
  expect((await temporal.client.workflowService.getSystemInfo({})).serverVersion).toMatch(/^\d+\./);
  await temporal.stop();
  await relay.stop();
});
