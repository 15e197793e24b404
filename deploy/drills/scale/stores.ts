import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { openFolderBlobs } from "../../../services/media/src/blobs/folder-blobs";
import { createCountStore } from "../../../services/media/src/objects/count-store";
import { createExpiry } from "../../../services/media/src/objects/expiry";
import { createPurge } from "../../../services/media/src/objects/purge";
import { createQuota } from "../../../services/media/src/objects/quota";
import { createObjectStore } from "../../../services/media/src/objects/store";
import { createStores } from "../../../services/executions/src/record/stores";
import { createRetention, type Owner } from "../../../services/executions/src/maintenance/retention";
import { createOwnRemoval } from "../../../services/executions/src/upkeep/own-removal";
import { createLogger } from "../../../services/platform/src";
import { openOwnStores } from "../../../services/platform/test/support/stores";
import { createStore } from "../../../services/usage/src/store";
import { createFolding } from "../../../services/usage/src/totals/folding";
import { createTotalsStore } from "../../../services/usage/src/totals/totals-store";
import { createUsage } from "../../../services/usage/src/usage";

export type World = Awaited<ReturnType<typeof openWorld>>;

const fail = (error: unknown): never => {
  throw error;
};

/**
 * The stores of executions, usage and media in databases of their own, and retention over them. No workflow names a file and no webhook
 * is in delivery.
 * @param now the clock of retention; rows keep the times that they are written with
 */
export const openWorld = async (now: () => Date) => {
  const runs = await openOwnStores("executions", (connection) => createStores(connection));
  const counted = await openOwnStores("usage", (connection) => ({ rows: createStore(connection), totals: createTotalsStore(connection) }));
  const files = await openOwnStores("media", (connection) => ({
    objects: createObjectStore(connection),
    counts: createCountStore(connection),
  }));
  const folder = await mkdtemp(join(tmpdir(), "nodeloom-scale-"));
  const blobs = await openFolderBlobs(folder);
  const folding = createFolding({ store: counted.stores.rows, totals: counted.stores.totals, onError: fail });
  const usage = createUsage({ store: counted.stores.rows, totals: counted.stores.totals, folding, latestId: 0, now });
  const { objects, counts } = files.stores;
  const remove = createExpiry({
    store: objects,
    quota: createQuota({ counts, objects }),
    purgeAll: createPurge({ store: objects, blobs, warn: fail }).purgeAll,
    findNamed: () => Promise.resolve([]),
    removeExports: () => Promise.resolve(0),
    now,
  });
  const owners: Record<string, Owner> = {
    executions: createOwnRemoval({ stores: runs.stores, pendingOf: () => Promise.resolve(new Set()), now }),
    usage: { removeExpired: ({ cursor }) => usage.removeExpired(cursor) },
    media: { removeExpired: ({ cursor }) => remove(cursor) },
  };
  const retention = createRetention({ owners, logger: createLogger("scale", "silent") });
  return {
    runs: runs.stores,
    usage,
    objects,
    folder,
    collections: {
      executions: runs.connection.collection("executions"),
      calls: runs.connection.collection("calls"),
      usage: counted.connection.collection("usage"),
      media: files.connection.collection("objects"),
    },
    /** One pass over all services. @returns numbers removed, by service and kind */
    removeExpired: () => retention(() => {}),
    close: async () => {
      await folding.stop();
      blobs.close();
      await Promise.all([runs.stop(), counted.stop(), files.stop(), rm(folder, { recursive: true, force: true })]);
    },
  };
};
