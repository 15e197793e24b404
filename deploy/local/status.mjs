import { readFile } from "node:fs/promises";
import { readLocal } from "./platform/local-file.mjs";
import { LOCK_FILE } from "./paths.mjs";
import { lockHolder } from "./run/lock.mjs";
import { runCommand } from "./run/child.mjs";
import { answersHttp, answersMongoPing, answersRedisPing, servesGrpc, servesTemporalNamespace } from "./servers/probe.mjs";
import { readStatusRows } from "./platform/status-file.mjs";

const KILOBYTES_PER_MEGABYTE = 1024;

/** Resident memory in MB, or "-". @param {number | null} pid */
const memoryOf = async (pid) => {
  if (pid === null) return "-";
  if (process.platform === "linux") {
    const match = /VmRSS:\s+(\d+)/.exec(await readFile(`/proc/${pid}/status`, "utf8").catch(() => ""));
    return match === null ? "-" : `${Math.round(Number(match[1]) / KILOBYTES_PER_MEGABYTE)} MB`;
  }
  const { ok, tail } = await runCommand("ps", ["-o", "rss=", "-p", String(pid)]);
  return ok ? `${Math.round(Number(tail) / KILOBYTES_PER_MEGABYTE)} MB` : "-";
};

/** @param {string} address */
const answersRedis = (address) => {
  const { hostname, port } = new URL(`redis://${address}`);
  return answersRedisPing(hostname.replace(/^\[|\]$/g, ""), Number(port));
};

/** @param {import("./platform/status-file.mjs").Row} row */
const isHealthy = async ({ address, health, url }) => {
  const [host, port] = [address.slice(0, address.lastIndexOf(":")), Number(address.slice(address.lastIndexOf(":") + 1))];
  if (health === "mongodb") return answersMongoPing(host, port);
  if (health === "redis") return (await Promise.all(address.split(",").map(answersRedis))).some(Boolean);
  if (health === "temporal") return servesTemporalNamespace(address, process.env.TEMPORAL_NAMESPACE || "default");
  return health === "grpc" ? servesGrpc(address) : answersHttp(url ?? `http://${address}`);
};

/** @param {readonly string[][]} table */
const print = (table) => {
  const widths = (table[0] ?? []).map((_, column) => Math.max(...table.map((row) => row[column]?.length ?? 0)));
  for (const row of table)
    process.stdout.write(
      `${row
        .map((cell, column) => cell.padEnd(widths[column] ?? 0))
        .join("  ")
        .trimEnd()}\n`,
    );
};

const [holder, local, rows] = await Promise.all([lockHolder(LOCK_FILE), readLocal(), readStatusRows()]);
if (holder === undefined) {
  process.stdout.write("Nodeloom does not run. Start it with: npm start\n");
  process.exit(1);
}
if (local === undefined) {
  process.stdout.write(`Nodeloom is starting (process ${holder.pid}).\n`);
  process.exit(1);
}
const checked = await Promise.all(
  rows.map(async (row) => {
    const pid = local.pids[row.name] ?? null;
    const healthy = await isHealthy(row);
    return {
      healthy,
      cells: [row.name, pid === null ? "-" : String(pid), row.address, healthy ? "healthy" : "NOT HEALTHY", await memoryOf(pid)],
    };
  }),
);
process.stdout.write(`Nodeloom runs at ${local.baseUrl} (launcher: process ${holder.pid})\n\n`);
print([["SERVICE", "PROCESS", "ADDRESS", "HEALTH", "MEMORY"], ...checked.map(({ cells }) => cells)]);
process.exit(checked.every(({ healthy }) => healthy) ? 0 : 1);
