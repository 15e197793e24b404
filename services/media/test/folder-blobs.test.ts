import { randomBytes } from "node:crypto";
import fs from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join, relative } from "node:path";
import type { Readable } from "node:stream";
import type { BlobStore } from "../src/blobs/blobs";
import { openFolderBlobs } from "../src/blobs/folder-blobs";

let parent: string;
let root: string;
/** Synced files and folders, by their paths in the store. */
let synced: string[];

beforeEach(async () => {
  parent = await fs.mkdtemp(join(tmpdir(), "nodeloom-blobs-"));
  root = join(parent, "data", "media");
  synced = [];
  const { open } = fs;
  jest.spyOn(fs, "open").mockImplementation(async (path, flags) => {
    const handle = await open(path, flags);
    const sync = handle.sync.bind(handle);
    handle.sync = () => {
      if (flags === "r") synced.push(relative(root, String(path)));
      return sync();
    };
    return handle;
  });
});
afterEach(async () => {
  jest.restoreAllMocks();
  await fs.rm(parent, { recursive: true });
});

const keep = async (store: BlobStore, name: string): Promise<void> => {
  async function* bytes() {
    yield await Promise.resolve(Buffer.from(name));
  }
  const staged = await store.stage(bytes(), 1_000);
  await staged.keep(name);
};
const textOf = async (blob: Readable | undefined): Promise<string> => {
  let text = "";
  for await (const chunk of blob!) text += String(chunk);
  return text;
};
/** A name that is stored in the folder `ab/cd`. */
const newName = (): string => `abcd${randomBytes(8).toString("hex")}`;

it("syncs its own folder, and the folders created for it", async () => {
  await openFolderBlobs(root);
  expect(synced.sort()).toEqual(["", "..", join("..", "..")]);
});

it("syncs a file before it has its name, and then its folders, even if another process has created them", async () => {
  const store = await openFolderBlobs(root);
  for (const isThere of [false, true]) {
    if (isThere) await fs.mkdir(join(root, "12", "34"), { recursive: true });
    synced = [];
    await keep(store, isThere ? "123456" : "abcdef");
    const [first, ...folders] = synced;
    expect(first).toMatch(/^tmp\W/);
    expect(folders.sort()).toEqual(isThere ? ["", "12", join("12", "34")] : ["", "ab", join("ab", "cd")]);
  }
});

it("creates a folder once, and no rename fails because it is missing", async () => {
  const store = await openFolderBlobs(root);
  const [mkdir, rename] = [jest.spyOn(fs, "mkdir"), jest.spyOn(fs, "rename")];
  for (let index = 0; index < 3; index += 1) await keep(store, newName());
  expect(mkdir).toHaveBeenCalledTimes(1);
  expect(rename).toHaveBeenCalledTimes(3);
});

it("creates a folder again that was removed while the store was open", async () => {
  const store = await openFolderBlobs(root);
  await keep(store, newName());
  await fs.rm(dirname(join(root, "ab", "cd")), { recursive: true });
  const name = newName();
  await keep(store, name);
  expect(await textOf(await store.read(name))).toBe(name);
});

it.each(["ENOSPC", "EDQUOT"])("reports that it can't store more while the disk is full (%s), and leaves nothing behind", async (code) => {
  const store = await openFolderBlobs(root);
  jest.restoreAllMocks();
  const { open } = fs;
  jest.spyOn(fs, "open").mockImplementation(async (path, flags) => {
    const handle = await open(path, flags);
    handle.writev = () => Promise.reject(Object.assign(new Error("no room"), { code }));
    return handle;
  });
  await expect(keep(store, newName())).rejects.toMatchObject({ kind: "unavailable", reason: "SERVICE_UNAVAILABLE" });
  expect(await fs.readdir(join(root, "tmp"))).toEqual([]);
});

it.each(["ENOSPC", "EIO", "EROFS"])("reports that it can't store a file while its folder can't be written (%s)", async (code) => {
  const store = await openFolderBlobs(root);
  jest.restoreAllMocks();
  jest.spyOn(fs, "mkdir").mockRejectedValue(Object.assign(new Error("no"), { code }));
  await expect(keep(store, newName())).rejects.toMatchObject({ kind: "unavailable", reason: "SERVICE_UNAVAILABLE" });
});

it("reports that it can't store files while its folder is missing, and stores them when it is back", async () => {
  const store = await openFolderBlobs(root);
  await fs.rename(root, `${root}-away`);
  await expect(keep(store, newName())).rejects.toMatchObject({ kind: "unavailable", reason: "SERVICE_UNAVAILABLE" });
  await fs.rename(`${root}-away`, root);
  const name = newName();
  await keep(store, name);
  expect(await textOf(await store.read(name))).toBe(name);
});
