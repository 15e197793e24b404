import { spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Redis as Connection } from "ioredis";
import { freePort } from "../deploy/local/servers/ports.cjs";
import { eventually } from "./eventually";
import { startTlsFront, type TlsFront } from "./tls-front";

/**
 * Sentinels and a cluster of real servers, of the program that serves REDIS_URL. It is built without TLS: with a certificate, each server
 * has a front that ends TLS, and is known to the others by the front's port.
 */

const SLOTS = 16_384;
const PRIMARIES = 3;
const DOWN_AFTER_MS = 500;
export const PRIMARY_NAME = "main";
export const PASSWORD = "a pass:word/@%";

export interface RedisGroup {
  url: string;
  /** Ends the server that holds a key (any key, with Sentinels) as a crash would. A replica takes its place. */
  killPrimary(key: string): Promise<void>;
  /** Ends the server at a port as a crash would. */
  kill(port: number): Promise<void>;
  /** Starts ended servers again, as replicas of those that took their places. */
  restart(): Promise<void>;
  /** Ports of its address at which TLS was ended. */
  tlsPorts(): number[];
  stop(): Promise<void>;
}

export interface ServerCertificate {
  cert: Buffer;
  key: Buffer;
}

const openDirectly = (port: number, password?: string): Connection => {
  const connection = new Connection({
    port,
    host: "127.0.0.1",
    ...(password === undefined ? {} : { password }),
    maxRetriesPerRequest: null,
  });
  connection.on("error", () => undefined);
  return connection;
};

const programOf = async (url: string): Promise<string> => {
  const redis = new Connection(url);
  const program = /^executable:(.+?)\r?$/m.exec(await redis.info("server"))?.[1];
  redis.disconnect();
  if (program === undefined) throw new Error("REDIS_URL must be a server on this machine, because more of its kind are started");
  return program;
};

const createGroup = async (certificate?: ServerCertificate) => {
  const program = await programOf(process.env.REDIS_URL!);
  const folder = await mkdtemp(join(tmpdir(), "nodeloom-redis-"));
  const children = new Map<number, ChildProcess>();
  const commands = new Map<number, readonly string[]>();
  const connections = new Map<number, Connection>();
  const fronts = new Map<number, TlsFront>();
  /** Port at which the server of a port listens. */
  const ownPort = async (port: number): Promise<number> => {
    if (!certificate) return port;
    const own = await freePort();
    fronts.set(port, await startTlsFront(port, own, certificate));
    return own;
  };
  const run = async (port: number, args: readonly string[]): Promise<void> => {
    const child = spawn(program, args, { cwd: folder, stdio: "ignore" });
    await once(child, "spawn");
    children.set(port, child);
    commands.set(port, args);
  };
  const hasEnded = (child: ChildProcess): boolean => child.exitCode !== null || child.signalCode !== null;
  const kill = async (port: number): Promise<void> => {
    const child = children.get(port);
    if (!child || hasEnded(child)) return;
    child.kill("SIGKILL");
    await once(child, "exit");
  };
  const restart = async (): Promise<void> => {
    for (const [port] of [...children].filter(([, child]) => hasEnded(child))) {
      await run(port, commands.get(port)!);
      const server = connections.get(port)!;
      await eventually(async () => (await server.info("replication")).includes("master_link_status:up"));
    }
  };
  return {
    folder,
    scheme: certificate ? "rediss" : "redis",
    ownPort,
    run,
    runServer: async (port: number, ...args: string[]) =>
      run(port, [
        ...["--port", String(await ownPort(port)), "--bind", "127.0.0.1", "--dir", folder, "--save", "", "--appendonly", "no"],
        ...["--replica-announce-port", String(port), "--cluster-announce-port", String(port)],
        ...["--requirepass", PASSWORD, "--masterauth", PASSWORD, "--repl-diskless-sync-delay", "0", ...args],
      ]),
    tlsPorts: (): number[] => [...fronts].filter(([, front]) => front.tlsConnections() > 0).map(([port]) => port),
    connect: (port: number, password?: string): Connection => {
      const connection = openDirectly(port, password);
      connections.set(port, connection);
      return connection;
    },
    to: (port: number): Connection => connections.get(port)!,
    kill,
    restart,
    stop: async (): Promise<void> => {
      for (const connection of connections.values()) connection.disconnect();
      await Promise.all([...children.keys()].map(kill));
      for (const front of fronts.values()) front.stop();
      await rm(folder, { recursive: true, force: true });
    },
  };
};

const ports = async (count: number): Promise<number[]> => {
  const free: number[] = [];
  while (free.length < count) free.push(await freePort());
  return free;
};
const address = (port: number): string => `127.0.0.1:${port}`;
const login = `:${encodeURIComponent(PASSWORD)}@`;

/** A primary, a replica, and three Sentinels without a password. */
export const startSentinels = async (certificate?: ServerCertificate): Promise<RedisGroup> => {
  const group = await createGroup(certificate);
  const [primary, replica, ...sentinels] = (await ports(5)) as [number, number, ...number[]];
  await group.runServer(primary);
  await group.runServer(replica, "--replicaof", "127.0.0.1", String(primary));
  group.connect(primary, PASSWORD);
  const follower = group.connect(replica, PASSWORD);
  await eventually(async () => (await follower.info("replication")).includes("master_link_status:up"));
  for (const port of sentinels) {
    const config = join(group.folder, `sentinel-${port}.conf`);
    const lines = [
      ...[`port ${await group.ownPort(port)}`, "bind 127.0.0.1", `dir "${group.folder}"`],
      ...["sentinel announce-ip 127.0.0.1", `sentinel announce-port ${port}`],
      `sentinel monitor ${PRIMARY_NAME} 127.0.0.1 ${primary} 2`,
      `sentinel auth-pass ${PRIMARY_NAME} "${PASSWORD}"`,
      `sentinel down-after-milliseconds ${PRIMARY_NAME} ${DOWN_AFTER_MS}`,
      `sentinel failover-timeout ${PRIMARY_NAME} 4000`,
    ];
    await writeFile(config, `${lines.join("\n")}\n`);
    await group.run(port, [config, "--sentinel"]);
    group.connect(port);
  }
  const knowsAll = async (port: number): Promise<boolean> => {
    const others = (await group.to(port).call("SENTINEL", "SENTINELS", PRIMARY_NAME)) as unknown[];
    const replicas = (await group.to(port).call("SENTINEL", "REPLICAS", PRIMARY_NAME)) as unknown[];
    return others.length === sentinels.length - 1 && replicas.length === 1;
  };
  await eventually(async () => (await Promise.all(sentinels.map(knowsAll))).every(Boolean));
  return {
    url: `${group.scheme}+sentinel://${login}${sentinels.map(address).join(",")}/${PRIMARY_NAME}`,
    killPrimary: () => group.kill(primary),
    kill: group.kill,
    restart: group.restart,
    tlsPorts: () => group.tlsPorts().filter((port) => sentinels.includes(port)),
    stop: group.stop,
  };
};

/** Three primaries, each with a third of the keys and a replica. */
export const startCluster = async (certificate?: ServerCertificate): Promise<RedisGroup> => {
  const group = await createGroup(certificate);
  const members = await ports(2 * PRIMARIES);
  for (const port of members) {
    const cluster = ["--cluster-enabled", "yes", "--cluster-config-file", `nodes-${port}.conf`, "--cluster-port", String(await freePort())];
    await group.runServer(port, ...cluster, "--cluster-node-timeout", String(2 * DOWN_AFTER_MS), "--cluster-replica-validity-factor", "0");
  }
  const [first, ...others] = members.map((port) => group.connect(port, PASSWORD)) as [Connection, ...Connection[]];
  const primaries = [first, ...others].slice(0, PRIMARIES);
  const bounds = Array.from({ length: PRIMARIES + 1 }, (_, index) => Math.floor((SLOTS * index) / PRIMARIES));
  for (const [index, node] of primaries.entries()) {
    await node.cluster("SET-CONFIG-EPOCH", index + 1);
    await node.call("CLUSTER", "ADDSLOTSRANGE", bounds[index]!, bounds[index + 1]! - 1);
  }
  const busOf = async (port: number): Promise<string> => String(((await group.to(port).config("GET", "cluster-port")) as string[])[1]);
  for (const port of members.slice(1)) await first.call("CLUSTER", "MEET", "127.0.0.1", port, await busOf(port));
  const info = async (node: Connection, line: string): Promise<boolean> => (await node.cluster("INFO")).includes(line);
  const all = async (line: string): Promise<boolean> =>
    (await Promise.all([first, ...others].map((node) => info(node, line)))).every(Boolean);
  await eventually(() => all(`cluster_known_nodes:${members.length}`));
  for (const [index, node] of primaries.entries()) {
    const id = (await node.call("CLUSTER", "MYID")) as string;
    const replica = group.to(members[PRIMARIES + index]!);
    await eventually(() =>
      replica.call("CLUSTER", "REPLICATE", id).then(
        () => true,
        () => false,
      ),
    );
    await eventually(async () => (await replica.info("replication")).includes("master_link_status:up"));
  }
  await eventually(() => all("cluster_state:ok"));
  return {
    url: `${group.scheme}+cluster://${login}${members.map(address).join(",")}`,
    killPrimary: async (key) => {
      const slot = await first.cluster("KEYSLOT", key);
      await group.kill(members[bounds.findIndex((bound) => slot < bound) - 1]!);
    },
    kill: group.kill,
    restart: group.restart,
    tlsPorts: group.tlsPorts,
    stop: group.stop,
  };
};
