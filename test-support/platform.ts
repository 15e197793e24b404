import { execFile, spawn, type ChildProcess } from "node:child_process";
import { randomBytes, randomUUID } from "node:crypto";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { freePort } from "../deploy/local/servers/ports.cjs";
import { SERVICES } from "../deploy/services.cjs";

const ROOT = join(__dirname, "..");
const ALONE = ["gateway", "executions", "transform", "sandbox", "inference"];
const DOMAIN = SERVICES.map(({ name }) => name).filter((name) => !ALONE.includes(name));

export type ServiceName = string;

const ADMIN = { email: "admin@nodeloom.test", password: "correct horse battery staple" };
const READY_MS = 120_000;

/** One OS process that hosts some of the services, and can be killed. */
export interface PlatformProcess {
  readonly pid: number;
  /** Address of probes and metrics; only with `measured`. */
  readonly opsUrl: string | undefined;
  /** Kills the process with SIGKILL and waits until it has ended. */
  kill(): Promise<void>;
  /** Restarts the process with the same environment and waits until it is ready. */
  start(): Promise<void>;
  stop(): Promise<void>;
}

export interface Platform {
  baseUrl: string;
  sandboxUrl: string;
  admin: typeof ADMIN;
  env: Record<string, string>;
  /** Processes by the names in `groups`, joined by a plus. */
  processes: Record<string, PlatformProcess>;
  /** Starts a second replica of a service on other ports. @param settings overrides of its environment */
  startAnother(service: ServiceName, settings?: Record<string, string>): Promise<{ env: Record<string, string>; process: PlatformProcess }>;
  /** Calls a control route of the sandbox. */
  sandboxControl(path: string, init?: { method: string; body?: string }): Promise<Response>;
  stop(): Promise<void>;
}

const HOST = join(ROOT, "deploy", "local", "platform", "host.mjs");
const OUTPUT_KEPT = 64 * 1024;

const startProcess = async (services: readonly ServiceName[], env: Record<string, string>): Promise<PlatformProcess> => {
  let child: ChildProcess | undefined;
  let output = "";
  const start = async (): Promise<void> => {
    const started = spawn(process.execPath, [HOST, ...services], {
      env: { ...process.env, ...env },
      stdio: ["ignore", "pipe", "pipe", "ipc"],
      cwd: ROOT,
    });
    child = started;
    const keep = (chunk: Buffer): void => void (output = (output + chunk.toString()).slice(-OUTPUT_KEPT));
    started.stdout!.on("data", keep);
    started.stderr!.on("data", keep);
    const exited = once(started, "exit").then(([code]) => {
      throw new Error(`${services.join("+")} exited with ${String(code)} before it was ready:\n${output}`);
    });
    exited.catch(() => undefined);
    const late = AbortSignal.timeout(READY_MS);
    await Promise.race([
      once(started, "message", { signal: late }).catch(() => {
        throw new Error(`${services.join("+")} was not ready in time:\n${output}`);
      }),
      exited,
    ]);
  };
  const end = async (signal: "SIGKILL" | "SIGTERM"): Promise<void> => {
    if (!child || child.exitCode !== null || child.signalCode !== null) return;
    const exit = once(child, "exit");
    child.kill(signal);
    await exit;
  };
  await start();
  return {
    get pid() {
      return child!.pid!;
    },
    opsUrl: env.OPS_LISTEN === undefined ? undefined : `http://${env.OPS_LISTEN}`,
    start,
    kill: () => end("SIGKILL"),
    stop: () => end("SIGTERM"),
  };
};

const GRPC = SERVICES.filter(({ protocol }) => protocol === "grpc").map(({ name }) => name);

const addresses = async (): Promise<Record<string, string>> => {
  const env: Record<string, string> = {};
  for (const name of GRPC) {
    const address = `127.0.0.1:${await freePort()}`;
    env[`${name.toUpperCase()}_LISTEN`] = address;
    env[`${name.toUpperCase()}_ADDRESS`] = address;
  }
  const [gateway, media, sandbox] = [await freePort(), await freePort(), await freePort()];
  return {
    ...env,
    GATEWAY_LISTEN: `127.0.0.1:${gateway}`,
    PUBLIC_BASE_URL: `http://127.0.0.1:${gateway}`,
    MEDIA_HTTP_LISTEN: `127.0.0.1:${media}`,
    MEDIA_HTTP_URL: `http://127.0.0.1:${media}`,
    SANDBOX_LISTEN: `127.0.0.1:${sandbox}`,
    SANDBOX_URL: `http://127.0.0.1:${sandbox}`,
  };
};

export interface PlatformOptions {
  /** OS processes with their services. By default one process hosts all, which starts fastest. */
  groups?: readonly (readonly ServiceName[])[];
  /** `host:port` addresses that providers and users can use, besides the sandbox and the gateway. */
  allow?: readonly string[];
  /** Gives each process an `opsUrl` with metrics. */
  measured?: boolean;
  /** Additional environment variables. A function gets the platform's own. */
  env?: Record<string, string> | ((own: Readonly<Record<string, string>>) => Record<string, string>);
}

const TOGETHER: readonly (readonly ServiceName[])[] = [[...DOMAIN, "sandbox", "transform", "executions", "gateway"]];
/** The gateway and executions in separate processes, as in a deployment. */
export const APART: readonly (readonly ServiceName[])[] = [[...DOMAIN, "sandbox", "transform"], ["executions"], ["gateway"]];

/** Starts a whole platform with a separate database, key prefix and task queue on the test servers. */
export const startPlatform = async (options: PlatformOptions = {}): Promise<Platform> => {
  const { groups = TOGETHER, allow = [], measured = false, env: extra = {} } = options;
  const id = randomUUID().slice(0, 8);
  const folder = mkdtempSync(join(tmpdir(), "nodeloom-e2e-"));
  const { MONGODB_URI, REDIS_URL, TEMPORAL_ADDRESS } = process.env;
  if (!MONGODB_URI || !REDIS_URL || !TEMPORAL_ADDRESS) throw new Error("the test servers are not running");
  const local = await addresses();
  const secret = randomBytes(32).toString("hex");
  const own: Record<string, string> = {
    ...local,
    MONGODB_URI,
    REDIS_URL,
    TEMPORAL_ADDRESS,
    MONGODB_DATABASE_PREFIX: `e2e_${id}_`,
    REDIS_KEY_PREFIX: `e2e:${id}:`,
    TEMPORAL_TASK_QUEUE: `e2e-${id}`,
    PROVIDER_EGRESS_ALLOW: [local.SANDBOX_LISTEN!, ...allow].join(","),
    USER_EGRESS_ALLOW: [local.GATEWAY_LISTEN!, ...allow].join(","),
    SANDBOX_CONTROL_KEY: secret,
    MEDIA_DIR: join(folder, "media"),
    PROVENANCE: "signed",
    SANDBOX_DATA_DIR: join(folder, "sandbox"),
    TRANSFORM_DIR: join(folder, "transform"),
    API_KEY_PEPPER: secret,
    SECRETS_KEYS: randomBytes(32).toString("hex"),
    MEDIA_URL_KEYS: randomBytes(32).toString("hex"),
    SESSION_SECRET: secret,
    MEDIA_KEY_SECRET: secret,
    NODELOOM_ENV: "test",
    REGISTRATION_RATE_LIMIT: "100000",
    NODE_ENV: "development",
    LOG_LEVEL: "warn",
    BOOTSTRAP_ADMIN_EMAIL: ADMIN.email,
    BOOTSTRAP_ADMIN_PASSWORD: ADMIN.password,
  };
  const env = { ...own, ...(typeof extra === "function" ? extra(own) : extra) };
  const [started] = await Promise.all([
    Promise.all(
      groups.map(async (services): Promise<[string, PlatformProcess]> => {
        const ops: Record<string, string> = measured ? { OPS_LISTEN: `127.0.0.1:${await freePort()}` } : {};
        return [services.join("+"), await startProcess(services, { ...env, ...ops })];
      }),
    ),
    promisify(execFile)(process.execPath, [join(ROOT, "services", "migrate")], { env: { ...process.env, ...env } }),
  ]);
  const processes = Object.fromEntries(started);
  const others: PlatformProcess[] = [];
  return {
    baseUrl: env.PUBLIC_BASE_URL!,
    sandboxUrl: env.SANDBOX_URL!,
    admin: ADMIN,
    env,
    processes,
    sandboxControl: (path, init) =>
      fetch(`${env.SANDBOX_URL}${path}`, {
        ...init,
        headers: { "content-type": "application/json", "x-sandbox-control-key": env.SANDBOX_CONTROL_KEY! },
      }),
    startAnother: async (service, settings = {}) => {
      const name = `${service.toUpperCase()}_LISTEN`;
      const own = { ...env, ...settings, [name]: `127.0.0.1:${await freePort()}` };
      const another = await startProcess([service], own);
      others.push(another);
      return { env: own, process: another };
    },
    stop: async () => {
      await Promise.all([...others, ...Object.values(processes)].map((one) => one.stop()));
      rmSync(folder, { recursive: true, force: true });
    },
  };
};
