import { execFile } from "node:child_process";
import { join } from "node:path";
import { promisify } from "node:util";

/** Packages with a high cost in time and memory that not every process needs. */
const HEAVY = [
  "mongoose",
  "mongodb",
  "ioredis",
  "undici",
  "@grpc/grpc-js",
  "protobufjs",
  "@opentelemetry/core",
  "@opentelemetry/sdk-metrics",
  "@opentelemetry/sdk-trace",
  "express",
  "re2js",
];

const loadedBy = async (code: string): Promise<string[]> => {
  const list = `${code};const found = Object.keys(require.cache).map((file) => /node_modules\\/((?:@[^/]+\\/)?[^/]+)\\//.exec(file)?.[1]);
    process.stdout.write(JSON.stringify([...new Set(found.filter(Boolean))]), () => process.exit(0));`;
  const register = join(__dirname, "../../../test-support/typescript.cjs");
  const { stdout } = await promisify(execFile)(process.execPath, ["-r", register, "-e", list]);
  return JSON.parse(stdout) as string[];
};

const PLATFORM = `const platform = require(${JSON.stringify(join(__dirname, "../src/index.ts"))})`;

it("loading the platform loads no heavy package", async () => {
  const loaded = await loadedBy(PLATFORM);
  expect(loaded).toContain("zod");
  expect(HEAVY.filter((name) => loaded.includes(name))).toEqual([]);
});

it.each([
  ["an egress client", "platform.createEgressClient()", ["undici"]],
  ["a gRPC client", "platform.createGrpcClient({ m: { path: '/a.b.v1.C/M' } }, { address: '127.0.0.1:1' })", ["@grpc/grpc-js"]],
  [
    "a Redis connection",
    "platform.connectRedis({ url: 'redis://127.0.0.1:1', logger: platform.createLogger('x', 'silent') })",
    ["ioredis"],
  ],
])("%s loads only the heavy packages that it needs", async (_name, use, needed) => {
  const loaded = await loadedBy(`${PLATFORM};${use}`);
  expect(HEAVY.filter((name) => loaded.includes(name))).toEqual(needed);
});
