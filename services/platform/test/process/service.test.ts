import { spawn, type ChildProcess } from "node:child_process";
import { on, once } from "node:events";
import { createServer } from "node:net";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { setTimeout as delay } from "node:timers/promises";
import { freePort } from "../../../../deploy/local/servers/ports.cjs";
import type { Behaviour } from "../support/process";
import { startRelay } from "../../../../test-support/relay";

interface ExitResult {
  code: number | null;
  signal: NodeJS.Signals | null;
  /** Log entries, one per line. */
  log: Record<string, unknown>[];
  stderr: string;
  /** Calls of the services' functions, in order. */
  events: string[];
  /** Messages to the supervising parent. */
  messages: unknown[];
}

interface Running {
  child: ChildProcess;
  ready: Promise<unknown>;
  exit: Promise<ExitResult>;
}

const children = new Set<ChildProcess>();
afterEach(() => {
  for (const child of children) child.kill("SIGKILL");
});

const run = (services: Behaviour[], env: NodeJS.ProcessEnv = {}, supervised = true): Running => {
  const script = [
    "-r",
    join(__dirname, "../../../../test-support/typescript.cjs"),
    join(__dirname, "../support/process.ts"),
    JSON.stringify(services),
  ];
  const { LOG_LEVEL: _level, ...inherited } = process.env;
  const child = spawn(process.execPath, script, {
    env: { ...inherited, NODE_ENV: "test", ...env },
    stdio: ["ignore", "pipe", "pipe", ...(supervised ? (["ipc"] as const) : [])],
  });
  children.add(child);
  const messages: unknown[] = [];
  child.on("message", (message) => messages.push(message));
  const ready = new Promise((resolve) => {
    child.on("message", (message) => (message as { type?: string }).type === "ready" && resolve(message));
  });
  const output = Promise.all([text(child.stdout!), text(child.stderr!)]);
  const exit = once(child, "exit").then(async ([code, signal]): Promise<ExitResult> => {
    children.delete(child);
    const [stdout, stderr] = await output;
    return {
      code: code as number | null,
      signal: signal as NodeJS.Signals | null,
      log: stdout
        .split("\n")
        .filter(Boolean)
        .map((line) => JSON.parse(line) as Record<string, unknown>),
      stderr,
      events: [...stderr.matchAll(/^event (.*)$/gm)].map((match) => match[1]!),
      messages,
    };
  });
  return { child, ready, exit };
};

const logEntry = ({ log }: ExitResult, message: string): Record<string, unknown> | undefined => log.find(({ msg }) => msg === message);

describe("a process of several services", () => {
  it("reports that it is ready once all have started, and stops them in reverse order", async () => {
    const { child, ready, exit } = run([{ name: "one" }, { name: "two", stopMs: 50 }, { name: "three", stopMs: 20 }]);
    expect(await ready).toEqual({ type: "ready" });
    child.kill("SIGTERM");
    const end = await exit;
    expect(end).toMatchObject({ code: 0, signal: null });
    expect(end.events.slice(0, 3).sort()).toEqual(["one starts", "three starts", "two starts"]);
    expect(end.events.slice(3)).toEqual(["three stops", "three stopped", "two stops", "two stopped", "one stops", "one stopped"]);
    expect(logEntry(end, "stopping")).toMatchObject({ name: "one+two+three", why: "SIGTERM" });
    expect(end.messages.filter((message) => (message as { type?: string }).type === "ready")).toHaveLength(1);
  });

  it.each(["SIGINT", "SIGTERM"] as const)("finishes its stop even if %s is repeated", async (signal) => {
    const { child, ready, exit } = run([{ name: "slow", stopMs: 300 }]);
    await ready;
    for (let time = 0; time < 3; time += 1) {
      child.kill(signal);
      await delay(30);
    }
    const end = await exit;
    expect([end.code, end.events.at(-1)]).toEqual([0, "slow stopped"]);
  });

  it("stops when its parent has ended", async () => {
    const { child, ready, exit } = run([{ name: "one" }]);
    await ready;
    child.disconnect();
    const end = await exit;
    expect([end.code, end.events.at(-1)]).toEqual([0, "one stopped"]);
    expect(logEntry(end, "stopping")).toMatchObject({ why: "the parent is gone" });
  });

  it("reports its ready dependencies to Prometheus", async () => {
    const port = await freePort();
    const { child, ready, exit } = run(
      [
        { name: "one", depends: { redis: false } },
        { name: "two", depends: { mongodb: true } },
      ],
      {
        OPS_LISTEN: `127.0.0.1:${port}`,
      },
    );
    await ready;
    const metrics = await (await fetch(`http://127.0.0.1:${port}/metrics`)).text();
    const dependencies = [...metrics.matchAll(/^nodeloom_dependency_up\{dependency="(\w+)"[^}]*\} (\d)/gm)].map(
      ([, name, up]) => `${name} ${up}`,
    );
    expect(dependencies.sort()).toEqual(["mongodb 1", "redis 0"]);
    child.kill("SIGTERM");
    await exit;
  });

  it("announces its stop at once, serves for DRAIN_MS, and only then stops", async () => {
    const port = await freePort();
    const env = { OPS_LISTEN: `127.0.0.1:${port}`, DRAIN_MS: "1500" };
    const { child, ready, exit } = run([{ name: "one", drains: true }, { name: "two" }], env);
    await ready;
    const ask = async (path: string): Promise<number> => (await fetch(`http://127.0.0.1:${port}${path}`)).status;
    expect([await ask("/livez"), await ask("/readyz")]).toEqual([200, 200]);
    const drained = new Promise((resolve) =>
      child.on("message", (message) => (message as { event?: string }).event === "one drains" && resolve(undefined)),
    );
    child.kill("SIGTERM");
    await drained;
    expect([await ask("/livez"), await ask("/readyz")]).toEqual([200, 503]);
    const end = await exit;
    expect(end.code).toBe(0);
    expect(end.events.slice(2)).toEqual(["one drains", "two stops", "two stopped", "one stops", "one stopped"]);
  });

  it("waits for an unavailable database, alive and not ready, and starts once it is back", async () => {
    const [relay, port] = [await startRelay(process.env.MONGODB_URI!), await freePort()];
    await relay.cut();
    const { child, ready, exit } = run([{ name: "one", mongo: relay.url }], { OPS_LISTEN: `127.0.0.1:${port}` });
    const waiting = (async () => {
      for await (const [bytes] of on(child.stdout!, "data")) if (String(bytes).includes("waiting for a server that is away")) return;
    })();
    await waiting;
    const ask = async (path: string): Promise<number> => (await fetch(`http://127.0.0.1:${port}${path}`)).status;
    expect([await ask("/livez"), await ask("/readyz")]).toEqual([200, 503]);
    await relay.mend();
    await ready;
    expect(await ask("/readyz")).toBe(200);
    child.kill("SIGTERM");
    const end = await exit;
    expect([end.code, end.events.at(-1)]).toEqual([0, "one stopped"]);
    await relay.stop();
  });

  it("serves Prometheus, and keeps no metrics without a port for them", async () => {
    const port = await freePort();
    const { child, ready, exit } = run([{ name: "one" }], { OPS_LISTEN: `127.0.0.1:${port}` });
    await ready;
    const text = await (await fetch(`http://127.0.0.1:${port}/metrics`)).text();
    expect(text).toMatch(/^# TYPE nodeloom_process_memory gauge$/m);
    expect(text).toMatch(/^nodeloom_process_event_loop_delay [\d.e-]+/m);
    child.kill("SIGTERM");
    expect((await exit).code).toBe(0);
  });

  it("doesn't wait for load balancers if it has failed or never was ready", async () => {
    const end = await run([{ name: "one" }, { name: "faulty", then: "throws" }], { DRAIN_MS: "600000" }).exit;
    expect([end.code, end.events.at(-1)]).toEqual([1, "one stopped"]);
  });

  it("runs without a supervising parent", async () => {
    const { child, exit } = run([{ name: "one" }], {}, false);
    await once(child.stdout!, "data");
    child.kill("SIGTERM");
    const end = await exit;
    expect([end.code, end.events.at(-1)]).toEqual([0, "one stopped"]);
  });

  it("ends a stop that takes longer than the grace period", async () => {
    const { child, ready, exit } = run([{ name: "one" }, { name: "stuck", stop: "never" }], { SHUTDOWN_GRACE_MS: "300" });
    await ready;
    const startedAt = Date.now();
    child.kill("SIGTERM");
    const end = await exit;
    expect(end.code).toBe(1);
    expect(Date.now() - startedAt).toBeGreaterThanOrEqual(290);
    expect(end.events).not.toContain("one stops");
    expect(logEntry(end, "the stop took too long and is forced")).toBeDefined();
  });

  it("stops the others if one can't stop", async () => {
    const { child, ready, exit } = run([{ name: "one" }, { name: "broken", stop: "fails" }]);
    await ready;
    child.kill("SIGTERM");
    const end = await exit;
    expect([end.code, end.events.at(-1)]).toEqual([0, "one stopped"]);
    expect(logEntry(end, "stop failed")).toMatchObject({ err: { message: "broken can't stop" } });
  });

  it.each<[NonNullable<Behaviour["then"]>, string, string]>([
    ["throws", "uncaught exception", "thrown later"],
    ["rejects", "unhandled rejection", "rejected later"],
  ])("stops and fails if code in it %s unhandled", async (then, why, message) => {
    const end = await run([{ name: "one" }, { name: "faulty", then }]).exit;
    expect([end.code, end.events.at(-1)]).toEqual([1, "one stopped"]);
    expect(logEntry(end, why)).toMatchObject({ level: "fatal", err: { message } });
  });
});

describe("a process that can't start", () => {
  it("reports the missing configuration of every service, and exits with 78", async () => {
    const { exit } = run([{ name: "one", needs: "ONE_URL" }, { name: "two", needs: "TWO_URL" }, { name: "three" }]);
    const end = await exit;
    expect(end.code).toBe(78);
    expect(end.stderr).toContain("one+two+three: configuration is incomplete:");
    expect(end.stderr).toContain("ONE_URL is missing: what one can't do without");
    expect(end.stderr).toContain("TWO_URL is missing: what two can't do without");
    expect(end.stderr).not.toMatch(/\n\s+at /);
    expect(logEntry(end, "could not start")).toMatchObject({ level: "fatal", reason: expect.stringContaining("ONE_URL") as string });
    expect(end.messages).not.toContainEqual({ type: "ready" });
  });

  it.each([
    ["LOG_LEVEL", "loud"],
    ["SHUTDOWN_GRACE_MS", "soon"],
    ["NODE_ENV", "prod"],
  ])("reports %s=%s, which every process reads", async (name, value) => {
    const end = await run([{ name: "one" }], { [name]: value }).exit;
    expect(end.code).toBe(78);
    expect(end.stderr).toContain(`${name} is malformed`);
    expect(end.events).toEqual([]);
  });

  it("stops the services that did start, and exits with 1", async () => {
    const end = await run([{ name: "one" }, { name: "broken", start: "fails" }]).exit;
    expect([end.code, end.events.at(-1)]).toEqual([1, "one stopped"]);
    expect(logEntry(end, "could not start")).toMatchObject({ level: "fatal", err: { message: "broken has no database" } });
    expect(end.messages).not.toContainEqual({ type: "ready" });
  });

  it("stops on request before it is ready", async () => {
    const { child, exit } = run([{ name: "one" }, { name: "waiting", start: "never" }]);
    await once(child, "message");
    child.kill("SIGTERM");
    const end = await exit;
    expect([end.code, end.events.at(-1)]).toEqual([0, "one stopped"]);
  });

  it("treats an empty variable as unset", async () => {
    const { child, ready, exit } = run([{ name: "one" }], { LOG_LEVEL: "", SHUTDOWN_GRACE_MS: "" });
    await ready;
    child.kill("SIGTERM");
    expect((await exit).code).toBe(0);
  });
});

it("a collector that never responds doesn't delay the stop", async () => {
  const silent = createServer().listen(0, "127.0.0.1");
  await once(silent, "listening");
  const { port } = silent.address() as { port: number };
  // The stop would wait for the exporter, but the grace period ends it, and the process fails.
  const patience = { OTEL_EXPORTER_OTLP_TIMEOUT: "120000", SHUTDOWN_GRACE_MS: "30000" };
  const { child, ready, exit } = run([{ name: "one" }], { ...patience, OTEL_EXPORTER_OTLP_ENDPOINT: `http://127.0.0.1:${port}` });
  await ready;
  child.kill("SIGTERM");
  expect((await exit).code).toBe(0);
  silent.close();
});
