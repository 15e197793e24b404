import { createHash, randomUUID } from "node:crypto";
import { innerOwner } from "@nodeloom/kernel";
import { media } from "@nodeloom/proto";
import { connectMongo } from "@nodeloom/platform";
import { OWNER, PNG, WAV, startMedia, type RunningMedia } from "./harness";
import { signed } from "../../../test-support/signed";

let service: RunningMedia & { prefix: string };
beforeAll(async () => {
  service = await startMedia();
});
afterAll(() => service.stop());

const newOwner = (): string => `user-${randomUUID()}`;
const dataUrl = (bytes: Buffer): string => `data:;base64,${bytes.toString("base64")}`;
const generatedId = (): string => `${randomUUID()}-0-0-0`;
const generate = (ownerId: string, bytes = PNG, id = generatedId()): Promise<media.StoredObject> =>
  service.ingest(id, dataUrl(bytes), [], ownerId);
const upload = (ownerId: string, bytes = PNG, quotaBytes?: number): Promise<media.StoredObject> =>
  service.upload(bytes, quotaBytes === undefined ? { ownerId } : { ownerId, quotaBytes });
const list = (ownerId: string, limit = 50, cursor = "") => service.client.listObjects({ ownerId, limit, cursor });
const used = async (ownerId: string): Promise<number> => (await list(ownerId)).usedBytes;
const keep = (id: string, ownerId: string, quotaBytes?: number) =>
  service.client.keepObject(media.KeepObjectRequest.fromPartial({ id, ownerId, ...(quotaBytes === undefined ? {} : { quotaBytes }) }));
const remove = (id: string, ownerId: string) => service.client.deleteObject({ id, ownerId });
const status = async ({ key }: Pick<media.StoredObject, "key">): Promise<number> =>
  (await fetch(`${service.http}/media/${signed(key)}`, { method: "HEAD" })).status;
const EXCEEDED = { kind: "forbidden", reason: "MEDIA_QUOTA_EXCEEDED" };
const GONE = { reason: "NOT_FOUND" };

describe("a file's address", () => {
  it("can't be derived from an upload's id", async () => {
    const object = await upload(OWNER);
    expect(object.key).toMatch(/^[0-9a-f]{32}\.png$/);
    expect(object.key).not.toContain(object.id);
    expect(await status({ key: `${object.id}.png` })).toBe(404);
    expect(await status(object)).toBe(200);
  });

  it("is found by its key, for every owner", async () => {
    const [mine, other] = [await upload(OWNER), await upload(newOwner())];
    const { objects } = await service.client.getObjectsByKey({ keys: [mine.key, other.key, "nothing.png"] });
    expect(objects.map(({ id }) => id).sort()).toEqual([mine.id, other.id].sort());
  });
});

describe("a file created by a run of a graph that its user can't read", () => {
  it("is in no list and no provenance until it is given to the user, and doesn't reveal its sources", async () => {
    const user = newOwner();
    const inside = innerOwner(user);
    const making = (parents: string[]) =>
      media.Making.fromPartial({ maker: media.Maker.MAKER_MODEL, model: "m", nodeId: "n", executionId: randomUUID(), parents });
    const make = async (bytes: Buffer, parents: string[]) => {
      const request = { id: generatedId(), ownerId: inside, sourceUrl: dataUrl(bytes), making: making(parents) };
      return (await service.client.ingest(media.IngestRequest.fromPartial(request))).object!;
    };
    const [first, other] = [await make(PNG, []), await generate(newOwner())];
    const result = await make(PNG, [first.url, "https://author.test/secret.png"]);
    const provenance = (id: string) => service.client.getProvenance({ id, ownerId: user });
    expect((await list(user)).objects).toEqual([]);
    for (const { id } of [first, result]) await expect(provenance(id)).rejects.toMatchObject(GONE);
    expect((await service.client.getObjects({ ids: [result.id], ownerId: user })).objects).toEqual([]);

    for (let count = 0; count < 2; count += 1)
      await service.client.giveObjects({ keys: [result.key, other.key], fromOwnerId: inside, ownerId: user });
    expect((await list(user)).objects.map(({ id }) => id)).toEqual([result.id]);
    expect(await provenance(result.id)).toMatchObject({ record: { making: { parents: [] } }, ancestors: [] });
    await expect(keep(first.id, user)).rejects.toMatchObject(GONE);
    expect(await Promise.all([first, result, other].map(status))).toEqual([200, 200, 200]);
  });
});

describe("reading", () => {
  const read = async (key: string) => {
    let header: media.ReadObjectHeader | undefined;
    const chunks: Uint8Array[] = [];
    for await (const { part } of service.client.readObject({ key })) {
      if (part?.$case === "header") header = part.value;
      if (part?.$case === "chunk") chunks.push(part.value);
    }
    return { header, chunks };
  };

  it("returns a file's description and then its bytes, in messages of a limited size", async () => {
    const bytes = Buffer.concat([PNG, Buffer.alloc(1_000_000, 7)]);
    const { key } = await upload(OWNER, bytes);
    const { header, chunks } = await read(key);
    const sha256 = createHash("sha256").update(bytes).digest("hex");
    expect(header).toEqual({ contentType: "image/png", bytes: bytes.length, sha256 });
    expect(Buffer.concat(chunks)).toEqual(bytes);
    expect(Math.max(...chunks.map(({ length }) => length))).toBeLessThanOrEqual(64 * 1024);
  });

  it("rejects an unknown key", () => expect(read("nothing.png")).rejects.toMatchObject(GONE));
});

describe("listing", () => {
  it("shows an owner's files newest first, page by page, each once", async () => {
    const owner = newOwner();
    const ids: string[] = [];
    for (let index = 0; index < 5; index += 1) ids.push((await (index % 2 ? generate(owner) : upload(owner))).id);
    await upload(newOwner());
    const pages = [await list(owner, 2)];
    while (pages.at(-1)!.nextCursor !== "") pages.push(await list(owner, 2, pages.at(-1)!.nextCursor));
    expect(pages.map(({ objects }) => objects.length)).toEqual([2, 2, 1]);
    const listed = pages.flatMap(({ objects }) => objects);
    expect(new Set(listed.map(({ id }) => id))).toEqual(new Set(ids));
    const times = listed.map(({ createdAt }) => createdAt!.getTime());
    expect(times).toEqual([...times].sort((a, b) => b - a));
    expect(listed.filter(({ origin }) => origin === media.Origin.ORIGIN_UPLOAD)).toHaveLength(3);
  });

  it.each([0, 501])("rejects a limit of %d", async (limit) => {
    await expect(list(OWNER, limit)).rejects.toMatchObject({ reason: "INVALID_REQUEST" });
  });

  it("rejects an invalid cursor", async () => {
    await expect(list(OWNER, 10, "?")).rejects.toMatchObject({ reason: "INVALID_REQUEST" });
  });
});

describe("deleting", () => {
  it("removes a file at once: address, list and bytes", async () => {
    const owner = newOwner();
    const object = await upload(owner);
    await remove(object.id, owner);
    expect(await status(object)).toBe(404);
    expect((await list(owner)).objects).toEqual([]);
    expect((await service.client.getObjects({ ids: [object.id], ownerId: owner })).objects).toEqual([]);
    await expect(remove(object.id, owner)).rejects.toMatchObject(GONE);
  });

  it("rejects another owner's file", async () => {
    const object = await upload(newOwner());
    await expect(remove(object.id, OWNER)).rejects.toMatchObject(GONE);
    expect(await status(object)).toBe(200);
  });

  it("returns the quota once, however many concurrent deletions there are", async () => {
    const owner = newOwner();
    const [first] = [await upload(owner), await upload(owner)];
    const outcomes = await Promise.allSettled(Array.from({ length: 8 }, () => remove(first.id, owner)));
    expect(outcomes.filter(({ status: outcome }) => outcome === "fulfilled")).toHaveLength(1);
    expect(await used(owner)).toBe(PNG.length);
  });
});

describe("the quota", () => {
  it("counts uploads and kept files, not runs' outputs", async () => {
    const owner = newOwner();
    await upload(owner);
    const object = await generate(owner);
    expect(await used(owner)).toBe(PNG.length);
    expect((await keep(object.id, owner)).object).toMatchObject({ kept: true });
    expect(await used(owner)).toBe(2 * PNG.length);
    await keep(object.id, owner);
    expect(await used(owner)).toBe(2 * PNG.length);
    await remove(object.id, owner);
    expect(await used(owner)).toBe(PNG.length);
  });

  it("rejects an upload that would exceed it, and leaves nothing behind", async () => {
    const owner = newOwner();
    const quota = 2 * PNG.length;
    const first = await upload(owner, PNG, quota);
    await upload(owner, PNG, quota);
    await expect(upload(owner, PNG, quota)).rejects.toMatchObject({ ...EXCEEDED, metadata: { limit: quota, used: quota } });
    const object = await generate(owner);
    await expect(keep(object.id, owner, quota)).rejects.toMatchObject(EXCEEDED);
    expect((await list(owner)).objects).toHaveLength(3);
    await remove(first.id, owner);
    await upload(owner, PNG, quota);
    expect(await used(owner)).toBe(quota);
  });

  it("also applies to concurrent uploads", async () => {
    const owner = newOwner();
    const outcomes = await Promise.allSettled(Array.from({ length: 8 }, () => upload(owner, PNG, 3 * PNG.length)));
    expect(outcomes.filter(({ status: outcome }) => outcome === "fulfilled")).toHaveLength(3);
    expect(await used(owner)).toBe(3 * PNG.length);
    expect((await list(owner)).objects).toHaveLength(3);
  });

  it("counts a file once for many concurrent requests to keep it", async () => {
    const owner = newOwner();
    const object = await generate(owner);
    await Promise.all(Array.from({ length: 8 }, () => keep(object.id, owner)));
    expect(await used(owner)).toBe(PNG.length);
  });
});

describe("copying", () => {
  const copy = (ids: string[], ownerId: string, newOwnerId: string, reference: string, quotaBytes?: number) =>
    service.client.copyObjects(
      media.CopyObjectsRequest.fromPartial({ ids, ownerId, newOwnerId, reference, ...(quotaBytes === undefined ? {} : { quotaBytes }) }),
    );

  it("copies files for the new owner, once per reference", async () => {
    const [author, reader] = [newOwner(), newOwner()];
    const [picture, sound, foreign] = [await upload(author), await upload(author, WAV), await upload(newOwner())];
    const ids = [picture.id, sound.id, foreign.id, "nothing"];
    const first = await copy(ids, author, reader, "clone-1");
    expect(Object.keys(first.copies).sort()).toEqual([picture.id, sound.id].sort());
    expect(first.copies[picture.id]).toMatchObject({ ownerId: reader, contentType: "image/png", bytes: PNG.length });
    expect(await copy(ids, author, reader, "clone-1")).toEqual(first);
    expect(await used(reader)).toBe(PNG.length + WAV.length);
    await remove(picture.id, author);
    expect(await status(first.copies[picture.id]!)).toBe(200);
  });

  it("rejects files that would exceed the new owner's quota before any is copied", async () => {
    const [author, reader] = [newOwner(), newOwner()];
    const ids = [(await upload(author)).id, (await upload(author)).id];
    await expect(copy(ids, author, reader, "clone-2", 2 * PNG.length - 1)).rejects.toMatchObject(EXCEEDED);
    expect((await list(reader)).objects).toEqual([]);
  });
});

describe("after a crash", () => {
  /** Writes the database state that a crash between two steps leaves. */
  const database = async <T>(work: (db: Awaited<ReturnType<typeof connectMongo>>) => Promise<T>): Promise<T> => {
    const connection = await connectMongo({ uri: process.env.MONGODB_URI!, database: `${service.prefix}media` });
    try {
      return await work(connection);
    } finally {
      await connection.close();
    }
  };
  /** Removes everything except expired files, which need the workflows service. */
  const finish = async (): Promise<void> => {
    for (let cursor = ""; cursor !== "generatedMedia:";) cursor = (await service.client.removeExpired({ cursor })).nextCursor;
  };
  const LONG_AGO = new Date(Date.now() - 60 * 60_000);
  const entry = (token: string, objectId: string) => ({ token, objectId, bytes: PNG.length, at: LONG_AGO });

  it("returns reserved bytes if the upload never happened, and keeps them if it did", async () => {
    const owner = newOwner();
    const stored = await upload(owner);
    await database(async (db) => {
      const object = await db.collection<{ _id: string; countedBy: string }>("objects").findOne({ _id: stored.id });
      const counts = db.collection<{ _id: string; bytes: number; entries: object[] }>("counts");
      const entries = [entry(object!.countedBy, stored.id), entry("add-never", "never")];
      await counts.updateOne({ _id: owner }, { $inc: { bytes: PNG.length }, $set: { entries } });
    });
    expect(await used(owner)).toBe(2 * PNG.length);
    await finish();
    expect(await used(owner)).toBe(PNG.length);
    await finish();
    expect(await used(owner)).toBe(PNG.length);
  });

  it("finishes a started removal, and drops one that hadn't started", async () => {
    const owner = newOwner();
    const [startedRemoval, intended] = [await upload(owner), await upload(owner)];
    await database(async (db) => {
      const hidden = { removal: "remove-1", removedAt: LONG_AGO };
      await db.collection<{ _id: string }>("objects").updateOne({ _id: startedRemoval.id }, { $set: hidden });
      const entries = [entry("remove-1", startedRemoval.id), entry("remove-2", intended.id)];
      await db.collection<{ _id: string }>("counts").updateOne({ _id: owner }, { $set: { entries } });
    });
    expect(await status(startedRemoval)).toBe(404);
    await finish();
    expect(await used(owner)).toBe(PNG.length);
    expect(await status(intended)).toBe(200);
    await database(async (db) => {
      expect(await db.collection<{ _id: string }>("objects").findOne({ _id: startedRemoval.id })).toBeNull();
    });
  });
});
