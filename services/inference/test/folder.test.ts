import { createHash } from "node:crypto";
import { existsSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { assetFolder, assetsFolders, unsupported, type FolderAsset } from "@nodeloom/platform";
import { availabilityOf, foldersOf } from "../src/fetch/availability";
import { fetchAssets } from "../src/fetch/fetch-assets";
import { PICTURE_ASSETS, pictureAsset } from "../src/fetch/picture-assets";
import { startRecorder, type Recorder } from "../../../test-support/recorder";
import { createFolder, removeFolder } from "./support/inference";

/** Files of a model that the operator chooses. */
const { required } = PICTURE_ASSETS.pictures;
const contentOf = (path: string): Buffer => Buffer.from(`${path} `.repeat(2_000));
const sha256 = (bytes: Buffer): string => createHash("sha256").update(bytes).digest("hex");
const isUnsupported = unsupported() !== undefined;

let server: Recorder;
let address: string;
let folder: string;
/** Requests as path and range. */
const requests: string[] = [];
/** Paths whose next answer breaks off, and paths with another content. */
const broken = new Set<string>();
const forged = new Set<string>();

beforeAll(async () => {
  server = await startRecorder((response, request) => {
    const path = request.path.slice("/model/".length);
    const from = Number(/^bytes=(\d+)-$/.exec(request.headers.range ?? "")?.[1] ?? 0);
    requests.push(`${path} from ${from}`);
    if (!required.some((name) => name === path)) return void response.writeHead(404).end();
    const content = contentOf(forged.has(path) ? path.toUpperCase() : path).subarray(from);
    response.writeHead(from > 0 ? 206 : 200, { "content-length": content.length });
    if (!broken.delete(path)) return void response.end(content);
    response.write(content.subarray(0, 5_000));
    const part = join(folder, "cache", "partial-pictures", "temporary", `${required.findIndex((name) => name === path)}.part`);
    const breaking = setInterval(() => {
      if (!existsSync(part) || statSync(part).size < 5_000) return;
      clearInterval(breaking);
      response.destroy();
    }, 10);
  });
  address = `${server.url}/model/`;
});
afterAll(() => server.close());
beforeEach(() => {
  folder = createFolder();
  for (const list of [broken, forged]) list.clear();
  requests.length = 0;
});
afterEach(() => removeFolder(folder));

const fileOf = (path: string) => ({ path, bytes: contentOf(path).length, sha256: sha256(contentOf(path)) });
const root = (): string => join(folder, "cache", "local-models");
const assetOf = async (list: unknown): Promise<FolderAsset> => {
  writeFileSync(join(folder, "files.json"), typeof list === "string" ? list : JSON.stringify(list));
  return pictureAsset({ LOCAL_PICTURES_FILES: join(folder, "files.json") });
};
const download = async (pictures: FolderAsset, pausesMs: number[] = []) =>
  (await fetchAssets({ root: root(), assets: { pictures }, pausesMs }))!;

it("downloads the listed files into a folder of their own, each by its hash, and only once", async () => {
  const pictures = await assetOf({ address, files: required.map(fileOf) });
  expect(await download(pictures)).toMatchObject({ state: "done", fetchedBytes: pictures.bytes, totalBytes: pictures.bytes });
  const target = assetFolder(root(), "pictures", pictures);
  expect(target).toBe(join(folder, "cache", "pictures"));
  for (const path of required) expect(readFileSync(join(target, path)).equals(contentOf(path))).toBe(true);
  expect(requests).toHaveLength(required.length);
  await download(pictures);
  expect(requests).toHaveLength(required.length);
  if (!isUnsupported) expect(await foldersOf([root()], ["pictures"])).toEqual({ pictures: target });
});

it("continues an interrupted file where it ended, also in another process", async () => {
  const pictures = await assetOf({ address, files: required.map(fileOf) });
  const [first, second] = required;
  broken.add(second);
  expect(await download(pictures)).toMatchObject({
    state: "failed",
    failures: { pictures: expect.stringContaining("broke off") as string },
  });
  expect(existsSync(assetFolder(root(), "pictures", pictures))).toBe(false);
  requests.length = 0;
  expect(await download(pictures)).toMatchObject({ state: "done" });
  expect(requests[0]).toBe(`${second} from 5000`);
  expect(requests.join()).not.toContain(first);
  expect(readdirSync(join(folder, "cache")).sort()).toEqual(["local-models", "pictures"]);
});

it("refuses a file with another content, and keeps none of it", async () => {
  const pictures = await assetOf({ address, files: required.map(fileOf) });
  forged.add(required[1]);
  const { state, failures } = await download(pictures, [1, 1, 1]);
  expect([state, failures.pictures]).toEqual([
    "failed",
    expect.stringMatching(/unet\/model\.onnx is not the expected file.*sha256 differs/),
  ]);
  expect(requests.filter((request) => request.startsWith(required[1]))).toHaveLength(2);
  expect(existsSync(assetFolder(root(), "pictures", pictures))).toBe(false);
  forged.clear();
  expect(await download(pictures)).toMatchObject({ state: "done" });
});

it("says what can't be reached", async () => {
  const gone = await assetOf({ address: `${address}gone/`, files: required.map(fileOf) });
  expect((await download(gone)).failures.pictures).toBe(`${address}gone/${required[0]} answers 404`);
  const away = await assetOf({ address: "http://127.0.0.1:9/", files: required.map(fileOf) });
  expect((await download(away)).failures.pictures).toContain("could not be reached");
  if (!isUnsupported)
    expect(await availabilityOf([root()], ["pictures"])).toMatchObject({
      status: "away",
      reason: expect.stringContaining("could not be") as string,
    });
});

it("replaces the files when the list names others", async () => {
  const other = await assetOf({ address, files: [...required].reverse().map(fileOf) });
  await download(await assetOf({ address, files: required.map(fileOf) }));
  requests.length = 0;
  expect(await download(other)).toMatchObject({ state: "done" });
  expect(requests).toHaveLength(required.length);
});

/** A list with the file `a`, in which some members are replaced. */
const listOf = ({ files = [], ...more }: { files?: object[]; address?: string }): object => ({
  address,
  ...more,
  files: files.map((file) => ({ ...fileOf("a"), ...file })),
});

it.each([
  ["no list", undefined, "LOCAL_PICTURES_FILES must name the list of its files"],
  ["no JSON", "{", "JSON"],
  ["a file that is missing", { files: [] }, "files: text_encoder/model.onnx is missing"],
  ["a path out of the folder", { files: [{ path: "../../etc/x" }] }, "files.0.path"],
  ["a hash that isn't one", { files: [{ sha256: "abc" }] }, "files.0.sha256"],
  ["an address without a slash", { address: "https://example.com/model" }, "address"],
])("refuses %s, and says where it is described", async (_name, wrong, message) => {
  const list = typeof wrong === "object" ? listOf(wrong) : wrong;
  const asset = list === undefined ? await pictureAsset({}) : await assetOf(list);
  expect(asset.problem).toContain(message);
  expect(asset.problem).toContain("docs/guide/local-models.md#local-pictures");
  expect((await download(asset)).failures.pictures).toBe(asset.problem);
  expect(requests).toEqual([]);
});

it("uses a folder of the operator that is complete, and says what to put there until it is", async () => {
  const folders = assetsFolders({ NODELOOM_CACHE_DIR: join(folder, "cache"), LOCAL_MODELS_DIR: join(folder, "own") });
  const put = (path: string): void => {
    const target = join(folder, "own", "pictures", path);
    mkdirSync(dirname(target), { recursive: true });
    writeFileSync(target, contentOf(path));
  };
  required.slice(1).forEach(put);
  if (!isUnsupported)
    expect(await availabilityOf(folders, ["pictures"])).toEqual({
      status: "away",
      reason: expect.stringMatching(/text_encoder\/model\.onnx.* folder pictures of LOCAL_MODELS_DIR.*LOCAL_PICTURES_FILES/) as string,
    });
  put(required[0]);
  expect(await foldersOf(folders, ["pictures"])).toEqual({ pictures: join(folder, "own", "pictures") });
});
