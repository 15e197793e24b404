import { inflateRawSync } from "node:zlib";
import { archive } from "../../src/maintenance/export/archive";
import { atMost, linesEntry, textEntry, type Entry } from "../../src/maintenance/export/entry";
import { readme } from "../../src/maintenance/export/readme";
import { pathOf } from "../../src/maintenance/export/texts";

const MEGABYTE = 1_048_576;

/** Entries of a ZIP, from its directory. */
const entriesOf = (zip: Buffer): Map<string, Buffer> => {
  const end = zip.lastIndexOf(Buffer.from("PK\x05\x06", "latin1"));
  const entries = new Map<string, Buffer>();
  let at = zip.readUInt32LE(end + 16);
  for (let remaining = zip.readUInt16LE(end + 10); remaining > 0; remaining -= 1) {
    const [method, size, nameLength] = [zip.readUInt16LE(at + 10), zip.readUInt32LE(at + 20), zip.readUInt16LE(at + 28)];
    const local = zip.readUInt32LE(at + 42);
    const name = zip.toString("utf8", at + 46, at + 46 + nameLength);
    const start = local + 30 + zip.readUInt16LE(local + 26) + zip.readUInt16LE(local + 28);
    const bytes = zip.subarray(start, start + size);
    entries.set(name, method === 8 ? inflateRawSync(bytes) : bytes);
    at += 46 + nameLength + zip.readUInt16LE(at + 30) + zip.readUInt16LE(at + 32);
  }
  return entries;
};

async function* all<T>(items: readonly T[]): AsyncIterable<T> {
  for (const item of items) yield await Promise.resolve(item);
}
const collect = async (bytes: AsyncIterable<Uint8Array>): Promise<Buffer> => {
  const chunks: Uint8Array[] = [];
  for await (const chunk of bytes) chunks.push(chunk);
  return Buffer.concat(chunks);
};

it("has every entry unchanged", async () => {
  const file: Entry = { path: "files/a.png", content: all([Buffer.from([1, 2]), Buffer.from([3])]), isCompressed: true };
  const entries = [
    textEntry("a.json", "{}\n"),
    linesEntry("rows.jsonl", all([{ row: 1 }, { row: 2 }])),
    linesEntry("none.jsonl", all([])),
    file,
  ];
  const archivedEntries = entriesOf(await collect(archive(all(entries))));
  expect([...archivedEntries].map(([name, bytes]) => [name, bytes.toString("latin1")])).toEqual([
    ["a.json", "{}\n"],
    ["rows.jsonl", '{"row":1}\n{"row":2}\n'],
    ["none.jsonl", ""],
    ["files/a.png", "\x01\x02\x03"],
  ]);
});

it("reads no further ahead than its reader", async () => {
  let madeCount = 0;
  async function* large(): AsyncIterable<Uint8Array> {
    for (; madeCount < 64; madeCount += 1) yield await Promise.resolve(Buffer.alloc(MEGABYTE, madeCount));
  }
  const bytes = archive(all<Entry>([{ path: "large", content: large(), isCompressed: true }]))[Symbol.asyncIterator]();
  for (let takenBytes = 0; takenBytes < 3 * MEGABYTE;) takenBytes += ((await bytes.next()).value as Uint8Array).length;
  await new Promise((resolve) => setImmediate(resolve));
  expect(madeCount).toBeLessThan(12);
  await bytes.return?.();
});

it("fails if an entry can't be read, so that a part never looks complete", async () => {
  async function* broken(): AsyncIterable<Uint8Array> {
    yield await Promise.resolve(Buffer.from("a"));
    throw new Error("the file is gone");
  }
  const failing = collect(archive(all<Entry>([{ path: "broken", content: broken() }])));
  await expect(failing).rejects.toThrow("the file is gone");
});

it("lists missing parts inside", async () => {
  const missing: string[] = [];
  const rows: number[] = [];
  for await (const row of atMost(all([1, 2, 3]), 2, () => missing.push("rows beyond the first 2"))) rows.push(row);
  expect(rows).toEqual([1, 2]);
  expect(readme("user", new Date(0), missing)).toContain("  - rows beyond the first 2");
  expect(readme("user", new Date(0), [])).toContain("Everything is here.");
});

it.each([
  ["image/png", "files/a-1.png"],
  ["audio/mpeg", "files/a-1.mp3"],
  ["audio/x-flac", "files/a-1.flac"],
  ["application/vnd.strange+zip", "files/a-1.bin"],
])("names a file of %s", (contentType, path) => {
  expect(pathOf({ id: "a-1", contentType })).toBe(path);
});

it("names no file outside of its folder", () => {
  expect(pathOf({ id: "../../etc/passwd", contentType: "image/png" })).toBe("files/.._.._etc_passwd.png");
});
