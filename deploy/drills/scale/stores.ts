import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { openFolderBlobs } from "../../../services/media/src/blobs/folder-blobs";
import { createCountStore } from "../../../services/media/src/objects/count-store";
import { createExpiry } from "../../../services/media/src/objects/expiry";
import { createPurge } from "../../../services/media/src/objects/purge";
import { createQuota } from "../../../services/media/src/objects/quota";
import { createObjectStore } from "../../../services/media/src/store/store";
import { createBilling } from "../../../services/billing/src/billing";
import { createStore as createBillingStore } from "../../../services/billing/src/store";
import { createStores } from "../../../services/executions/src/record/stores";
import { createRetention, type Owner } from "../../../services/executions/src/maintenance/retention";
import { createOwnRemoval } from "../../../services/executions/src/upkeep/own-removal";
import { createAudit } from "../../../services/identity/src/audit/audit";
import { createStore as createIdentityStore } from "../../../services/identity/src/store";
import { RETENTION } from "../../../services/kernel/src";
import { createRemoveExpired } from "../../../services/notifications/src/server";
import { createDeliveryStore } from "../../../services/notifications/src/store/deliveries";
import { createMailStore } from "../../../services/notifications/src/store/mails";
import { createLogger } from "../../../services/platform/src";
import { openOwnStores } from "../../../test-support/stores";
import { createStore } from "../../../services/usage/src/store";
import { createFolding } from "../../../services/usage/src/totals/folding";
import { createTotalsStore } from "../../../services/usage/src/totals/totals-store";
import { createUsage } from "../../../services/usage/src/usage";

export type World = Awaited<ReturnType<typeof openWorld>>;

const fail = (error: unknown): never => {
  throw error;
};

/**
 * The stores of executions, usage, media, webhooks, the audit log and the ledger in databases of their own, and retention over them. No
 * workflow names a file and every webhook is delivered.
 */
export const openWorld = async (start: Date) => {
  /** Time of the rows that are written, and of retention. */
  const clock = { time: start };
  const now = (): Date => clock.time;
  const logger = createLogger("scale", "silent");
  const runs = await openOwnStores("executions", (connection) => createStores(connection));
  const counted = await openOwnStores("usage", (connection) => ({ rows: createStore(connection), totals: createTotalsStore(connection) }));
  const files = await openOwnStores("media", (connection) => ({
    objects: createObjectStore(connection),
    counts: createCountStore(connection),
  }));
  const messages = await openOwnStores("notifications", (connection) => ({
    deliveries: createDeliveryStore(connection),
    mails: createMailStore(connection),
  }));
  const identity = await openOwnStores("identity", createIdentityStore);
  const accounts = await openOwnStores("billing", createBillingStore);
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
  const audit = createAudit(
    identity.stores.audit,
    () => Promise.resolve(false),
    () => clock.time.getTime(),
  );
  const billing = createBilling({ store: accounts.stores, logger, clock: now });
  const removeMessages = createRemoveExpired(messages.stores, RETENTION.executions.days, now);
  const services: Record<string, Owner> = {
    executions: createOwnRemoval({ stores: runs.stores, pendingOf: () => Promise.resolve(new Set()), now }),
    usage: { removeExpired: ({ cursor }) => usage.removeExpired(cursor) },
    media: { removeExpired: ({ cursor }) => remove(cursor) },
    notifications: { removeExpired: ({ cursor }) => removeMessages(cursor) },
    identity: { removeExpired: ({ cursor }) => audit.removeExpired(cursor) },
    billing: { removeExpired: ({ cursor }) => billing.removeExpired(cursor) },
  };
  /** Seconds that each service's pages took. */
  const secondsOf: Record<string, number> = {};
  const timed = (name: string, { removeExpired }: Owner): Owner => ({
    removeExpired: async (request) => {
      const startedAt = performance.now();
      const page = await removeExpired(request);
      secondsOf[name] = (secondsOf[name] ?? 0) + (performance.now() - startedAt) / 1_000;
      return page;
    },
  });
  const owners = Object.fromEntries(Object.entries(services).map(([name, owner]) => [name, timed(name, owner)]));
  const retention = createRetention({ owners, logger });
  return {
    clock,
    secondsOf,
    runs: runs.stores,
    usage,
    objects,
    deliveries: messages.stores.deliveries,
    audit,
    billing,
    folder,
    collections: {
      executions: runs.connection.collection("executions"),
      calls: runs.connection.collection("calls"),
      usage: counted.connection.collection("usage"),
      media: files.connection.collection("objects"),
      deliveries: messages.connection.collection("deliveries"),
      audit: identity.connection.collection("audit"),
      ledger: accounts.connection.collection("ledger"),
    },
    /** One pass over all services. @returns numbers removed, by service and kind */
    removeExpired: () => retention(() => {}),
    close: async () => {
      await folding.stop();
      blobs.close();
      await billing.stop();
      await Promise.all([runs, counted, files, messages, identity, accounts].map(({ stop }) => stop()));
      await rm(folder, { recursive: true, force: true });
    },
  };
};
