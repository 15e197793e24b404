import { randomUUID } from "node:crypto";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { service as mediaService } from "@nodeloom/media";
import { connectMongo, createGrpcClient } from "@nodeloom/platform";
import { media as proto } from "@nodeloom/proto";
import { signedPath } from "../../../../test-support/signed";
import { startMigrated } from "../../../../test-support/start-migrated";
import type { Media } from "../../src/clients";

const URI = process.env.MONGODB_URI!;

/** Starts the media service with a database and a folder of its own. @param env variables beside the usual ones */
export const startMedia = async (env: Record<string, string> = {}) => {
  const folder = mkdtempSync(join(tmpdir(), "nodeloom-media-"));
  const prefix = `test_${randomUUID().slice(0, 8)}_`;
  const start = (port: number) =>
    startMigrated(mediaService, {
      ...{ MONGODB_URI: URI, MONGODB_DATABASE_PREFIX: prefix, MEDIA_DIR: join(folder, "media"), MEDIA_URL_KEYS: "ab".repeat(32) },
      ...{
        MEDIA_LISTEN: `127.0.0.1:${port}`,
        MEDIA_HTTP_LISTEN: "127.0.0.1:0",
        PUBLIC_BASE_URL: "http://public.test",
        LOG_LEVEL: "silent",
      },
      ...env,
    });
  let running = await start(0);
  const port = running.ports!.MEDIA_LISTEN!;
  const client: Media = createGrpcClient<proto.MediaServiceServer>(proto.MediaServiceService, { address: `127.0.0.1:${port}` });
  return {
    client,
    /** For further files of the test, until `stop`. */
    folder,
    /** Fetches a stored file by its public address. */
    fetch: (url: string): Promise<Response> =>
      fetch(`http://127.0.0.1:${running.ports!.MEDIA_HTTP_LISTEN}${signedPath(url)}${new URL(url).search.replace("?", "&")}`),
    /** Stops the service until `restart`. */
    halt: () => running.stop(),
    restart: async () => {
      running = await start(port);
    },
    stop: async () => {
      client.close();
      await running.stop();
      const connection = await connectMongo({ uri: URI, database: `${prefix}media` });
      await connection.dropDatabase();
      await connection.close();
      rmSync(folder, { recursive: true, force: true });
    },
  };
};

export type RunningMedia = Awaited<ReturnType<typeof startMedia>>;
