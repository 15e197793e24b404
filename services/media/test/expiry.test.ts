import { randomUUID } from "node:crypto";
import { media } from "@nodeloom/proto";
import { connectMongo } from "@nodeloom/platform";
import { createExpiry } from "../src/objects/expiry";
import { createPurge } from "../src/objects/purge";
import { createObjectStore } from "../src/store/store";
import { PNG, startMedia, type RunningMedia } from "./harness";
import { signed } from "../../../test-support/signed";

const DAY_MS = 24 * 60 * 60 * 1_000;

let service: RunningMedia & { prefix: string };
let connection: Awaited<ReturnType<typeof connectMongo>>;
beforeAll(async () => {
  // No server listens there, so the workflows service is unreachable.
  service = await startMedia([], undefined, { WORKFLOWS_ADDRESS: "127.0.0.1:1" });
  connection = await connectMongo({ uri: process.env.MONGODB_URI!, database: `${service.prefix}media` });
});
afterAll(async () => {
  await connection.close();
  await service.stop();
});
beforeEach(async () => void (await connection.collection("objects").deleteMany({})));

const objects = () => connection.collection<{ _id: string }>("objects");

/** A generated file of the given age. */
const generate = async (days: number): Promise<media.StoredObject> => {
  const object = await service.ingest(`${randomUUID()}-0-0-0`, `data:;base64,${PNG.toString("base64")}`, [], `user-${randomUUID()}`);
  await objects().updateOne({ _id: object.id }, { $set: { createdAt: new Date(Date.now() - days * DAY_MS) } });
  return object;
};
const upload = async (days: number): Promise<media.StoredObject> => {
  const object = await service.upload(PNG);
  await objects().updateOne({ _id: object.id }, { $set: { createdAt: new Date(Date.now() - days * DAY_MS) } });
  return object;
};

const nothing = (): Promise<number> => Promise.resolve(0);

/** Expires files in the service's records. The test decides which files are in use. */
const expiry = (findNamed: (names: string[]) => Promise<string[]>) => {
  const purged: string[] = [];
  const store = createObjectStore(connection);
  const purgeAll = async (condemned: readonly { id: string }[]): Promise<number> => {
    const ids = condemned.map(({ id }) => id);
    purged.push(...ids);
    await store.purge(ids);
    return ids.length;
  };
  const quota = { finishAbandoned: () => Promise.resolve(0) };
  const remove = createExpiry({ store, quota, purgeAll, findNamed, removeExports: nothing });
  return { remove: () => remove("generatedMedia:"), purged };
};
const nobodyNames = (): Promise<string[]> => Promise.resolve([]);

it("removes generated files after 90 days, and neither kept ones nor uploads", async () => {
  const [old, young, keptObject] = [await generate(91), await generate(89), await generate(91)];
  await upload(91);
  await service.client.keepObject(media.KeepObjectRequest.fromPartial({ id: keptObject.id, ownerId: keptObject.ownerId }));
  const { remove, purged } = expiry(nobodyNames);
  expect(await remove()).toEqual({ removed: { generatedMedia: 1 }, nextCursor: "" });
  expect(purged).toEqual([old.id]);
  expect((await fetch(`${service.http}/media/${signed(young.key)}`)).status).toBe(200);
  expect(await objects().countDocuments({})).toBe(3);
});

it("keeps files in use by id or key, and restores those that an interrupted call has hidden", async () => {
  const [byId, byKey] = [await generate(91), await generate(91)];
  await objects().updateOne({ _id: byId.id }, { $set: { removal: "expired", removedAt: new Date() } });
  const { remove, purged } = expiry(() => Promise.resolve([byId.id, byKey.key]));
  await remove();
  expect(purged).toEqual([]);
  for (const { key } of [byId, byKey]) expect((await fetch(`${service.http}/media/${signed(key)}`)).status).toBe(200);
});

it("keeps a file named between the first check and the removal", async () => {
  const late = await generate(91);
  let isNamed = false;
  const { remove, purged } = expiry(() => {
    const answer = isNamed ? [late.id] : [];
    isNamed = true;
    return Promise.resolve(answer);
  });
  expect(await remove()).toEqual({ removed: { generatedMedia: 0 }, nextCursor: "" });
  expect(purged).toEqual([]);
  expect((await fetch(`${service.http}/media/${signed(late.key)}`)).status).toBe(200);
});

it("removes files that an interrupted call has hidden", async () => {
  const hidden = await generate(91);
  const unsure = (): Promise<string[]> => (purges.purged.length === 0 && asks++ > 0 ? Promise.reject(new Error("killed")) : nobodyNames());
  let asks = 0;
  const purges = expiry(unsure);
  await expect(purges.remove()).rejects.toThrow("killed");
  expect((await fetch(`${service.http}/media/${signed(hidden.key)}`)).status).toBe(404);
  const { remove, purged } = expiry(nobodyNames);
  await remove();
  expect(purged).toEqual([hidden.id]);
});

it("keeps a renewed generated file for as long as a new one", async () => {
  const [renewed, old] = [await generate(91), await generate(91)];
  const renew = (keys: string[], ownerId: string) => service.client.renewObjects({ keys, ownerId });
  // Files of other owners aren't renewed.
  expect((await renew([old.key], renewed.ownerId)).objects).toEqual([]);
  const { objects: keptObjects } = await renew([renewed.key, "nothing.png"], renewed.ownerId);
  expect(keptObjects.map(({ id }) => id)).toEqual([renewed.id]);
  const { remove, purged } = expiry(nobodyNames);
  await remove();
  expect(purged).toEqual([old.id]);
  await objects().updateOne({ _id: renewed.id }, { $set: { renewedAt: new Date(Date.now() - 91 * DAY_MS) } });
  await remove();
  expect(purged).toEqual([old.id, renewed.id]);
});

it("either renews a file or removes it, if both happen at once", async () => {
  const late = await generate(91);
  // Renews a file after it was found expired, but before it is hidden.
  const renewing = async (): Promise<string[]> => {
    if (renewals++ === 0) await service.client.renewObjects({ keys: [late.key], ownerId: late.ownerId });
    return [];
  };
  let renewals = 0;
  const { remove, purged } = expiry(renewing);
  await remove();
  expect(purged).toEqual([]);
  // Hidden files aren't renewed.
  await objects().updateOne({ _id: late.id }, { $set: { removal: "expired", removedAt: new Date() } });
  expect((await service.client.renewObjects({ keys: [late.key], ownerId: late.ownerId })).objects).toEqual([]);
});

it("processes any number of files, a limited page per call", async () => {
  const object = await generate(91);
  const { _id, ...row } = (await objects().findOne({ _id: object.id }))! as unknown as { _id: string; key: string };
  await objects().insertMany(Array.from({ length: 1_199 }, (_, index) => ({ ...row, _id: `${_id}-${index}`, key: `${index}${row.key}` })));
  const remove = createExpiry({
    store: createObjectStore(connection),
    quota: { finishAbandoned: () => Promise.resolve(0) },
    purgeAll: ({ length }) => Promise.resolve(length),
    findNamed: nobodyNames,
    removeExports: nothing,
  });
  const removed: number[] = [];
  for (let cursor = "generatedMedia:"; cursor !== "";) {
    const page = await remove(cursor);
    removed.push(page.removed.generatedMedia!);
    cursor = page.nextCursor;
  }
  expect(removed).toEqual([500, 500, 200]);
});

it("removes nothing while the workflows service is unreachable", async () => {
  const old = await generate(91);
  let cursor = "";
  const enforce = async (): Promise<void> => {
    do cursor = (await service.client.removeExpired({ cursor }, { deadlineMs: 20_000 })).nextCursor;
    while (cursor !== "");
  };
  await expect(enforce()).rejects.toMatchObject({ kind: "unavailable" });
  expect(cursor).toBe("generatedMedia:");
  expect((await fetch(`${service.http}/media/${signed(old.key)}`)).status).toBe(200);
});

it("removes a page with one request to the bucket, and the others if one file can't be removed", async () => {
  const generatedObjects = await Promise.all([generate(91), generate(91), generate(91)]);
  await objects().updateMany({}, { $set: { removal: "expired for good", removedAt: new Date() } });
  const stored = (await objects().find({}).toArray()) as unknown as { _id: string; blob: string; key: string }[];
  // Equal contents have separate blobs.
  const stuck = stored.find(({ _id }) => _id === generatedObjects[1]!.id)!.blob;
  const requests: string[][] = [];
  const warned: string[] = [];
  const { purgeAll } = createPurge({
    store: createObjectStore(connection),
    blobs: {
      removeAll: (names) => {
        requests.push([...names]);
        return names.includes(stuck) ? Promise.reject(new Error("AccessDenied")) : Promise.resolve();
      },
    },
    warn: (_, { id }) => void warned.push(id),
  });
  const asObjects = stored.map(({ _id: id, ...rest }) => ({ id, ...rest })) as unknown as Parameters<typeof purgeAll>[0];
  expect(await purgeAll(asObjects)).toBe(2);
  expect(requests.map(({ length }) => length)).toEqual([3, 1, 1, 1]);
  expect(warned).toEqual([generatedObjects[1]!.id]);
  expect((await objects().find({}).toArray()).map(({ _id }) => _id)).toEqual([generatedObjects[1]!.id]);
  requests.length = 0;
  expect(await purgeAll([])).toBe(0);
  expect(requests).toEqual([]);
});
