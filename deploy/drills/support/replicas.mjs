import { spawn } from "node:child_process";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { connect, createServer } from "node:net";
import { join } from "node:path";
import { freePort } from "../../local/servers/ports.cjs";
import { pause, pidOf, ROOT } from "./platform.mjs";

const READY_MS = 60_000;
const LOOK_MS = 100;

const isListening = (/** @type {string} */ address) =>
  new Promise((resolve) => {
    const [host, port] = address.split(":");
    const socket = connect({ host, port: Number(port) });
    socket.once("connect", () => resolve(true)).once("error", () => resolve(false));
    socket.once("connect", () => socket.destroy());
  });

const untilListening = async (/** @type {string} */ address) => {
  for (const end = Date.now() + READY_MS; !(await isListening(address)); await pause(LOOK_MS))
    if (Date.now() > end) throw new Error(`nothing listens on ${address}`);
};

/** Environment of a service's first process. @param {string} service @returns {Record<string, string>} */
export const environmentOf = (service) => {
  const lines = readFileSync(`/proc/${pidOf(service)}/environ`, "utf8")
    .split("\0")
    .filter(Boolean);
  return Object.fromEntries(lines.map((line) => [line.slice(0, line.indexOf("=")), line.slice(line.indexOf("=") + 1)]));
};

/**
 * Starts a second process of a service with the first one's environment and its own addresses. If it is killed, it is restarted.
 * @param {{ service: string, folder: string, env: Record<string, string>, root?: string }} options `root`: root of another checkout
 */
export const startReplica = async ({ service, folder, env, root = ROOT }) => {
  // Other listeners of the first process. A replica with the same addresses would exit at its start, or take them over when the first
  // process is killed.
  const { OPS_LISTEN: _ops, ADMIN_LISTEN: _admin, ...own } = environmentOf(service);
  const [address] = Object.values(env);
  let isWanted = true;
  let ends = 0;
  /** @type {import("node:child_process").ChildProcess} */
  let child;
  const start = () => {
    child = spawn(process.execPath, [join(root, folder, "dist", "main.js")], { env: { ...own, ...env }, stdio: "ignore", cwd: root });
    child.once("exit", (code) => {
      if (!isWanted) return;
      if (code !== null) ends += 1;
      setTimeout(start, LOOK_MS);
    });
  };
  start();
  await untilListening(address ?? "");
  return {
    pid: () => child.pid ?? 0,
    /** Number of unexpected exits, without kills. */
    ends: () => ends,
    stop: async () => {
      isWanted = false;
      if (child.exitCode !== null || child.signalCode !== null) return;
      const exit = once(child, "exit");
      child.kill("SIGTERM");
      await exit;
    },
  };
};

/** Replicas behind one address, like a Kubernetes service: each connection goes to a responsive replica. */
export const startBalancer = async () => {
  /** @type {{ address: string, isStopped: boolean }[]} */
  const replicas = [];
  let turn = 0;
  const server = createServer(async (client) => {
    client.on("error", () => client.destroy());
    for (let tries = 0; tries < replicas.length; tries += 1) {
      const replica = replicas[(turn += 1) % replicas.length];
      if (!replica || replica.isStopped || !(await isListening(replica.address))) continue;
      const [host, port] = replica.address.split(":");
      const upstream = connect({ host, port: Number(port) });
      upstream.on("error", () => client.destroy());
      client.on("close", () => upstream.destroy());
      upstream.on("close", () => client.destroy());
      client.pipe(upstream).pipe(client);
      return;
    }
    client.destroy();
  });
  const port = await freePort();
  server.listen(port, "127.0.0.1");
  await once(server, "listening");
  return { address: `127.0.0.1:${port}`, replicas, close: () => server.close() };
};
