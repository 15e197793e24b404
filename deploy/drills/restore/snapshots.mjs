import { cp, mkdir, rm } from "node:fs/promises";
import { join } from "node:path";

/**
 * Snapshots of servers' data at one instant, like those of a volume. The server is paused while its files are copied.
 * @typedef {Awaited<ReturnType<typeof import("../cluster/cluster.mjs").startCluster>>} Cluster
 */

/** Data folders of a server. */
const FOLDERS = /** @type {const} */ ({ mongodb: ["mongodb-embedded", "mongod"], temporal: ["temporal"] });

/** @param {string} from @param {string} to */
const copyIfThere = async (from, to) => {
  await rm(to, { recursive: true, force: true });
  await cp(from, to, { recursive: true, preserveTimestamps: true }).catch((error) => {
    if (error.code !== "ENOENT") throw error;
  });
};

/** @param {Cluster} cluster @param {"mongodb" | "temporal"} server @param {string} to a folder */
export const copyServer = async (cluster, server, to) => {
  const pid = cluster.servers.pidOf(server);
  await mkdir(to, { recursive: true });
  if (pid !== null) process.kill(pid, "SIGSTOP");
  try {
    for (const folder of FOLDERS[server]) await copyIfThere(join(cluster.servers.dataDir, folder), join(to, folder));
  } finally {
    if (pid !== null) process.kill(pid, "SIGCONT");
  }
};

/**
 * Copies media after the databases, so that the copy has every file that they name. @param {Cluster} cluster @param {string} to a folder
 */
export const copyMedia = (cluster, to) => copyIfThere(join(cluster.folder, "media"), join(to, "media"));

/**
 * Ends all processes, deletes databases and files, and restores the copies.
 * @param {Cluster} cluster @param {{ mongodb: string, temporal: string, media: string }} copies folders
 */
export const loseAndRestore = async (cluster, copies) => {
  await Promise.all(cluster.replicas.map((replica) => replica.kill()));
  await cluster.servers.stop();
  await rm(cluster.servers.dataDir, { recursive: true, force: true });
  await rm(join(cluster.folder, "media"), { recursive: true, force: true });
  await mkdir(cluster.servers.dataDir, { recursive: true });
  for (const server of /** @type {const} */ (["mongodb", "temporal"]))
    for (const folder of FOLDERS[server]) await copyIfThere(join(copies[server], folder), join(cluster.servers.dataDir, folder));
  await copyIfThere(join(copies.media, "media"), join(cluster.folder, "media"));
};
