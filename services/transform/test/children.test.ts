import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { eventually } from "../../../test-support/eventually";
import { networkIsolation } from "../src/children/isolation";
import { startChild } from "../src/children/child-process";
import { createPool, type Pool } from "../src/children/pool";
import type { WorkRequest } from "../src/children/protocol";
import { isAlive, pidFrom } from "./support/processes";

/** Runs worker processes with a program that fails in the ways that files cause. */

const PROGRAM = `
  const { spawn } = require("node:child_process");
  const net = require("node:net");
  const chunks = [];
  const tell = (message) => process.send(message);
  const sendPath = (path) => tell({ type: "done", result: { path } });
  const ACTS = {
    pid: () => sendPath(String(process.pid)),
    fail: () => tell({ type: "failed", message: "no picture", isInput: true }),
    crash: () => process.abort(),
    hang: () => undefined,
    spin: () => { for (;;); },
    grow: () => setInterval(() => chunks.push(Buffer.alloc(32 * 1024 * 1024, 1)), 5),
    nest: ({ folder }) => {
      const child = spawn("sleep", ["60"]);
      require("node:fs").writeFileSync(folder + "/pid", String(child.pid));
    },
    secrets: () => sendPath(Object.keys(process.env).sort().join(" ")),
    reach: ({ settings }) => net.connect(settings.port, "127.0.0.1").once("connect", () => sendPath("reached")).once("error", () => sendPath("not reached")),
  };
  process.on("message", ({ request }) => ACTS[request.operation](request));
  process.once("disconnect", () => process.exit(0));
  tell({ type: "ready" });
`;

let folder: string;
let program: string;
let pool: Pool;
const request = (operation: string, settings: Record<string, unknown> = {}): WorkRequest => ({
  ...{ operation, settings, folder },
  files: [],
  ffmpeg: null,
});
const work = (operation: string, timeMs = 20_000) => pool.work(request(operation), { timeMs });

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "nodeloom-children-"));
  program = join(folder, "program.cjs");
  writeFileSync(program, PROGRAM);
  pool = createPool({ program, isolation: [], concurrency: 2, memoryBytes: 300 * 1_024 * 1_024 });
});
afterAll(async () => {
  await pool.stop();
  rmSync(folder, { recursive: true, force: true });
});

it("keeps a process for the next operation, and replaces it after some", async () => {
  const own = createPool({ program, isolation: [], concurrency: 1, callsPerChild: 3 });
  const pids: string[] = [];
  for (let call = 0; call < 7; call += 1) pids.push((await own.work(request("pid"), { timeMs: 20_000 })).path);
  await own.stop();
  const uses = [...new Set(pids)].map((pid) => pids.filter((one) => one === pid).length);
  expect(Math.max(...uses)).toBeLessThanOrEqual(3);
  expect(uses.length).toBeLessThan(pids.length);
});

it("keeps a process whose file couldn't be processed", async () => {
  const before = (await work("pid")).path;
  await expect(work("fail")).rejects.toMatchObject({ kind: "input", message: "no picture" });
  expect((await work("pid")).path).toBe(before);
});

it.each([
  ["crashes", "crash", 20_000, "ended", /ended \(SIGABRT\)/],
  ["takes too long", "hang", 300, "bounds", /longer than/],
  ["never stops computing", "spin", 300, "bounds", /longer than/],
  ["takes too much memory", "grow", 20_000, "bounds", /more than the 300 MB of memory/],
])("ends a process that %s, reports it, and continues", async (_name, operation, timeMs, kind, message) => {
  await expect(work(operation, timeMs)).rejects.toMatchObject({ kind, message: expect.stringMatching(message) as string });
  expect((await work("pid")).path).toMatch(/^\d+$/);
});

it("ends all processes that a process started", async () => {
  const stop = new AbortController();
  const nested = pool.work(request("nest"), { timeMs: 20_000, signal: stop.signal });
  const pid = await pidFrom(join(folder, "pid"));
  expect(isAlive(pid)).toBe(true);
  stop.abort(new Error("given up"));
  await expect(nested).rejects.toThrow("given up");
  await eventually(() => !isAlive(pid));
});

it("gives users turns, however many requests one of them has", async () => {
  const order: string[] = [];
  const enter = async (key: string): Promise<void> => {
    const leave = await pool.enter({ key, maxWaitMs: 20_000 });
    order.push(key);
    await new Promise((resolve) => setTimeout(resolve, 5));
    leave();
  };
  const much = Array.from({ length: 8 }, () => enter("much"));
  await Promise.all([...much, enter("little")]);
  expect(order.indexOf("little")).toBeLessThan(5);
});

it("gives a process no secret of the service", async () => {
  process.env.TRANSFORM_TEST_SECRET = "secret";
  const child = await startChild({ program, isolation: [] });
  const { path } = await child.work(request("secrets"), { timeMs: 20_000 });
  child.end();
  await child.exit;
  expect(
    path.split(" ").filter((name) => !/^(PATH|LANG|MALLOC_ARENA_MAX|FONTCONFIG_FILE|NODE_CHANNEL_\w+|PWD|_|SHLVL)$/.test(name)),
  ).toEqual([]);
});

it("removes a process's network access if the machine allows it", async () => {
  const isolation = await networkIsolation();
  const { createServer } = await import("node:net");
  const server = createServer((socket) => socket.destroy()).listen(0, "127.0.0.1");
  await new Promise((resolve) => server.once("listening", resolve));
  const { port } = server.address() as { port: number };
  const child = await startChild({ program, isolation });
  const { path } = await child.work(request("reach", { port }), { timeMs: 20_000 });
  child.end();
  await child.exit;
  server.close();
  expect(path).toBe(isolation.length > 0 ? "not reached" : "reached");
});
