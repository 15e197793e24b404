import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { BUNDLE_BOUNDS } from "@nodeloom/kernel";
import { strToU8, zipSync, type Zippable } from "fflate";
import { openBundle } from "../../src/bundles/reading";

/** Archives from users, who aren't trusted. */

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "nodeloom-bundles-"));
});
afterAll(() => rm(folder, { recursive: true, force: true }));

const WORKFLOW = { nodes: [{ id: "t", type: "text-box", data: { text: "x" } }], edges: [] };
const json = (value: unknown): Uint8Array => strToU8(JSON.stringify(value));
const minimal = { "workflows/a.json": json(WORKFLOW) };

const opened = async (bytes: Uint8Array) => {
  const path = join(folder, "bundle.zip");
  await writeFile(path, bytes);
  const bundle = await openBundle(path);
  bundle.close();
  return bundle;
};
const problem = (bytes: Uint8Array): Promise<string> =>
  opened(bytes).then(
    () => "none",
    (error: Error) => error.message,
  );
const problemOf = (entries: Zippable): Promise<string> => problem(zipSync(entries));

/** Changes the declared size of an entry, both in the directory and before its bytes. */
const declaring = (zip: Uint8Array, name: string, size: number): Uint8Array => {
  const bytes = Buffer.from(zip);
  for (const [signature, nameAt, sizeAt] of [
    ["PK\x03\x04", 30, 22],
    ["PK\x01\x02", 46, 24],
  ] as const)
    for (let at = bytes.indexOf(signature, 0, "latin1"); at >= 0; at = bytes.indexOf(signature, at + 4, "latin1"))
      if (bytes.toString("utf8", at + nameAt, at + nameAt + name.length) === name) bytes.writeUInt32LE(size, at + sizeAt);
  return bytes;
};

describe("an archive from a user", () => {
  it("has its workflows, their dependencies, and a hash that ignores their form and the names of files", async () => {
    const node = (url: string) => ({ id: "f", type: "media-upload", data: { url } });
    const inner = { id: "w", type: "workflow", data: { slug: "a", version: 3 } };
    const one = { name: "B", nodes: [node("bundle:url:cat.png"), inner], edges: [] };
    const other = { edges: [], nodes: [node("bundle:url:dog.png"), { id: "w", type: "workflow", data: { slug: "a" } }], name: "B" };
    const bytes = new Uint8Array([1, 2, 3]);
    const first = await opened(zipSync({ ...minimal, "workflows/b.json": json(one), "files/cat.png": bytes }));
    expect(first.workflows.get("b")).toMatchObject({ inner: ["a"], files: ["cat.png"] });
    const second = await opened(
      zipSync({ ...minimal, "workflows/b.json": strToU8(JSON.stringify(other, null, 4)), "files/dog.png": bytes }),
    );
    expect(second.workflows.get("b")!.source).toBe(first.workflows.get("b")!.source);
    const changed = await opened(zipSync({ ...minimal, "workflows/b.json": json(other), "files/dog.png": new Uint8Array([1, 2, 4]) }));
    expect(changed.workflows.get("b")!.source).not.toBe(first.workflows.get("b")!.source);
  });

  it("never names a path outside", async () => {
    for (const name of ["../workflows/a.json", "/etc/passwd", "workflows/../../a.json", "workflows\\a.json", "C:/a.json"])
      expect(await problemOf({ ...minimal, [name]: json(WORKFLOW) })).toMatch(/isn't a readable ZIP archive/);
    for (const name of ["workflows/b/c.json", "workflows/.json.json", "workflows/B.json", `workflows/${"a".repeat(81)}.json`])
      expect(await problemOf({ ...minimal, [name]: json(WORKFLOW) })).toMatch(/the name must have/);
  });

  it("can't exceed the limits of entries or bytes", async () => {
    const many = Object.fromEntries(Array.from({ length: BUNDLE_BOUNDS.entries }, (_, at) => [`files/${at}`, new Uint8Array(0)]));
    expect(await problemOf({ ...minimal, ...many })).toMatch(/more than 1000 entries/);
    const workflows = Object.fromEntries(
      Array.from({ length: BUNDLE_BOUNDS.workflows + 1 }, (_, at) => [`workflows/w${at}.json`, json(WORKFLOW)]),
    );
    expect(await problemOf(workflows)).toMatch(/more than 200 workflows/);
    const bomb = declaring(zipSync({ ...minimal, "files/a": new Uint8Array(8) }), "files/a", BUNDLE_BOUNDS.unpackedBytes);
    expect(await problem(bomb)).toMatch(/when it is unpacked/);
  });

  it("that declares fewer bytes than it has is rejected during reading", async () => {
    const zip = zipSync({ ...minimal, "files/a": new Uint8Array(1_000_000) });
    expect(await problem(declaring(zip, "files/a", 10))).toMatch(/too many bytes/);
  });

  it("is rejected if it is truncated, or has an entry twice", async () => {
    const zip = zipSync({ ...minimal, "workflows/b.json": json(WORKFLOW) });
    expect(await problem(zip.subarray(0, zip.length - 30))).toMatch(/isn't a readable ZIP archive/);
    const twice = Buffer.from(Buffer.from(zip).toString("latin1").replaceAll("workflows/b.json", "workflows/a.json"), "latin1");
    expect(await problem(twice)).toMatch(/twice/);
  });

  it("with a workflow that isn't JSON, is too deep or has another form is rejected with its entry", async () => {
    const deep = `{"nodes":[],"edges":[],"x":${"[".repeat(5_000)}${"]".repeat(5_000)}}`;
    expect(await problemOf({ "workflows/a.json": strToU8(deep) })).toMatch(/workflows\/a.json: is nested more than/);
    expect(await problemOf({ "workflows/a.json": strToU8("[]") })).toMatch(/must be a JSON object/);
    expect(await problemOf({ "workflows/a.json": new Uint8Array([0x7b, 0xff, 0x7d]) })).toMatch(/isn't JSON in UTF-8/);
    expect(await problemOf({ "workflows/a.json": json({ nodes: {}, edges: [] }) })).toMatch(/workflows\/a.json/);
    expect(await problemOf({ "workflows/a.json": json({ ...WORKFLOW, tags: "x" }) })).toMatch(/tags must be a list of texts/);
  });
});
