import { readdir } from "node:fs/promises";
import { innerOwner } from "@nodeloom/kernel";
import { createGrpcClient, type ClientOf } from "@nodeloom/platform";
import { erasure, mediaExports } from "@nodeloom/proto";
import { createExports } from "../src/exports/exports";
import type { ExportStore, StoredExport } from "../src/exports/export-store";
import { OWNER, PNG, startMedia, type RunningMedia } from "./harness";

let running: RunningMedia;
let exportsClient: ClientOf<mediaExports.ExportsServiceServer>;
let owner: ClientOf<erasure.ErasureServiceServer>;
beforeAll(async () => {
  running = await startMedia();
  exportsClient = createGrpcClient(mediaExports.ExportsServiceService, { address: running.address });
  owner = createGrpcClient(erasure.ErasureServiceService, { address: running.address });
});
afterAll(async () => {
  exportsClient.close();
  owner.close();
  await running.stop();
});

const messages = (ownerId: string, texts: readonly string[], isPartial = false): mediaExports.PutExportRequest[] => [
  { part: { $case: "header", value: { ownerId } } },
  ...texts.map((text): mediaExports.PutExportRequest => ({ part: { $case: "chunk", value: Buffer.from(text) } })),
  { part: { $case: "summary", value: { isPartial } } },
  { part: { $case: "end", value: {} } },
];
const read = async (ownerId: string): Promise<string> => {
  const chunks: Uint8Array[] = [];
  for await (const { chunk } of exportsClient.readExport({ ownerId })) chunks.push(chunk);
  return Buffer.concat(chunks).toString();
};
const files = async (): Promise<number> => {
  const entries = await readdir(running.folder, { recursive: true, withFileTypes: true });
  return entries.filter((entry) => entry.isFile()).length;
};
const eraseAll = async (ownerId: string): Promise<Record<string, number>> => {
  const total: Record<string, number> = {};
  let cursor = "";
  do {
    const { erased, nextCursor } = await owner.erase({ ownerId, cursor });
    for (const [name, count] of Object.entries(erased)) total[name] = (total[name] ?? 0) + count;
    cursor = nextCursor;
  } while (cursor !== "");
  return total;
};

it("keeps the newest archive of an owner if it is complete, and never a truncated one", async () => {
  await exportsClient.putExport(messages(OWNER, ["one", "two"]));
  await exportsClient.putExport(messages(OWNER, ["three"], true));
  expect(await read(OWNER)).toBe("three");
  await expect(exportsClient.putExport(messages(OWNER, ["four"]).slice(0, 3))).rejects.toThrow();
  expect((await exportsClient.getExport({ ownerId: OWNER })).export).toMatchObject({ bytes: 5, isPartial: true });
  expect((await exportsClient.getExport({ ownerId: "stranger" })).export).toBeUndefined();
  await expect(read("stranger")).rejects.toMatchObject({ reason: "NOT_FOUND" });
  expect(await files()).toBe(1);
});

it("erases an owner's files with their bytes, including those being removed, and no other owner's", async () => {
  const keptObject = await running.upload(PNG, { ownerId: "another" });
  await running.upload(PNG);
  await running.upload(Buffer.concat([PNG, PNG]), { ownerId: innerOwner(OWNER) });
  await running.client.grantObjects({ keys: [keptObject.key], fromOwnerId: "another", ownerId: OWNER });
  expect(await files()).toBe(4);
  expect(await eraseAll(OWNER)).toEqual({ objects: 2, counts: 1, grants: 1, exports: 1 });
  expect(await eraseAll(OWNER)).toEqual({ objects: 0, counts: 0, grants: 0, exports: 0 });
  expect((await running.client.getObjects({ ids: [keptObject.id], ownerId: "another" })).objects).toHaveLength(1);
  expect(await files()).toBe(1);
});

it("leaves no bytes without a row, wherever storing an archive is interrupted", async () => {
  const removed: string[] = [];
  const stored: StoredExport[] = [];
  const exports = createExports({
    store: {
      begin: () => Promise.resolve({ pending: "cut off before" }),
      finish: (one: StoredExport) => Promise.resolve(stored.push(one) > 1 ? { blob: "earlier" } : null),
    } as unknown as ExportStore,
    blobs: {
      stage: () => Promise.resolve({ bytes: 3, keep: () => Promise.resolve(), discard: () => Promise.resolve() } as never),
      read: () => Promise.resolve(undefined),
      remove: (name) => Promise.resolve(void removed.push(name)),
    },
  });
  const put = () => exports.put("u", [] as unknown as AsyncIterable<Uint8Array>, () => ({ isPartial: false }));
  await expect(put()).rejects.toMatchObject({ reason: "SERVICE_UNAVAILABLE" });
  expect(removed).toEqual(["cut off before", stored[0]!.blob]);
  await put();
  expect(removed.slice(2)).toEqual(["cut off before", "earlier"]);
});
