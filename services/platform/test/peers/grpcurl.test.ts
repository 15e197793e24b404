import { execFile } from "node:child_process";
import { promisify } from "node:util";
import { createLogger, startGrpcServer, type RunningGrpcServer } from "../../src";
import { PROTOCOL_SERVICES, serviceNamed } from "../support/protocol-services";
import { peerOf } from "../../../../test-support/peer";

/** Reads reflection with grpcurl, a common tool. */

let server: RunningGrpcServer;
const grpcurl = async (...args: string[]): Promise<string> =>
  (await promisify(execFile)(peerOf("grpcurl"), ["-plaintext", `127.0.0.1:${server.port}`, ...args])).stdout;

beforeAll(async () => {
  const services = PROTOCOL_SERVICES.map(serviceNamed);
  server = await startGrpcServer({ listen: "127.0.0.1:0", services, logger: createLogger("test", "silent") });
});
afterAll(() => server?.stop());

it("lists every service and health", async () => {
  expect((await grpcurl("list")).trim().split("\n").sort()).toEqual(["grpc.health.v1.Health", ...PROTOCOL_SERVICES].sort());
});

it.each([...PROTOCOL_SERVICES, "google.protobuf.Timestamp"])("describes %s", async (symbol) => {
  expect(await grpcurl("describe", symbol)).toContain(`${symbol} is a`);
});

it("calls health using its description", async () => {
  expect(JSON.parse(await grpcurl("grpc.health.v1.Health/Check"))).toEqual({ status: "SERVING" });
});
