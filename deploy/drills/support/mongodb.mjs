import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { startMongodb } from "../../local/servers/mongodb.mjs";
import { defaultCacheDir } from "../../local/servers/programs/cache.mjs";

/** Starts a MongoDB server of the drill's own, with data that is removed at its end. @param {import("./run-drill.mjs").Drill["atEnd"]} atEnd @returns {Promise<string>} address */
export const startOwnMongodb = async (atEnd) => {
  const dataDir = await mkdtemp(join(tmpdir(), "nodeloom-drill-"));
  atEnd(() => rm(dataDir, { recursive: true, force: true }));
  const { MONGODB_URI: _, ...env } = process.env;
  const server = await startMongodb({ dataDir, cacheDir: defaultCacheDir(env), env });
  atEnd(() => server.stop());
  return server.uri;
};
