import { randomUUID } from "node:crypto";
import { createSlots } from "@nodeloom/platform";
import { media } from "@nodeloom/proto";
import { createKeepFile, type KeepFile } from "../../src/calls/stored-files";
import type { Media } from "../../src/clients";
import type { FileToKeep } from "../../src/run/calls";
import { startRecorder, type Recorder } from "../../../../test-support/recorder";
import { startMedia, type RunningMedia } from "../support/media";

const PNG = Buffer.from("iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==", "base64");
const OWNER = "owner";

let storage: RunningMedia;
let client: Media;
let origin: Recorder;
let url: string;
let fetched: string[];
let keepFile: KeepFile;

beforeAll(async () => {
  origin = await startRecorder((response, { path }) => {
    fetched.push(path);
    response.end(path === "/page" ? "<!doctype html>" : PNG);
  });
  ({ url } = origin);
  storage = await startMedia({ USER_EGRESS_ALLOW: origin.address });
  ({ client } = storage);
  keepFile = createKeepFile(client, createSlots({ concurrency: 4, queueLimit: 10 }));
});
afterAll(async () => {
  await storage.stop();
  await origin.close();
});
beforeEach(() => {
  fetched = [];
});

const fileOf = (reference: string, part: Partial<FileToKeep> = {}): FileToKeep => {
  const executionId = randomUUID();
  return {
    ...{ executionId, userId: OWNER, nodeId: "out", nodeIndex: 3, item: 0, items: 1, startedAt: 0, key: `${executionId}:out:0` },
    ...{ port: "images", family: "image", given: false, reference },
    ...part,
  };
};
const keep = (file: FileToKeep): ReturnType<KeepFile> => keepFile(file, new AbortController().signal);

it("stores a file once, however often it is requested", async () => {
  const file = fileOf(`${url}/a.png`);
  const keptFile = await keep(file);
  expect(keptFile).toEqual({
    id: expect.any(String) as string,
    url: expect.stringMatching(/^http:\/\/public\.test\/media\//) as string,
    contentType: "image/png",
    width: 1,
    height: 1,
  });
  expect(await keep(file)).toEqual(keptFile);
  expect(fetched).toEqual(["/a.png"]);
});

it("returns the user's file for its ID, and never another user's", async () => {
  const source = `data:image/png;base64,${PNG.toString("base64")}`;
  const { object } = await client.ingest(
    media.IngestRequest.fromPartial({ id: `file-${randomUUID()}`, ownerId: OWNER, sourceUrl: source }),
  );
  expect(await keep(fileOf(object!.id))).toEqual({ id: object!.id, url: object!.url, contentType: "image/png", width: 1, height: 1 });
  await expect(keep(fileOf(object!.id, { userId: "another" }))).rejects.toMatchObject({
    reason: "EXECUTION_FAILED",
    message: `images: you have no media file ${object!.id}`,
  });
});

it("keeps a data URL that the caller or the graph supplied", async () => {
  const keptFile = await keep(fileOf(`data:image/png;base64,${PNG.toString("base64")}`, { given: true }));
  expect(keptFile.url).toMatch(/^http:\/\/public\.test\/media\//);
});

it.each<[string, () => string, Partial<FileToKeep>, RegExp]>([
  ["a script", () => "javascript:alert(1)", {}, /^images: a javascript: address is not an image/],
  ["a script that the graph says", () => "javascript:alert(1)", { given: true }, /^images: a javascript: address is not an image/],
  ["a data URL from elsewhere", () => `data:image/png;base64,${PNG.toString("base64")}`, {}, /^images: a data: address is not an image/],
  ["a data URL that is no picture", () => "data:text/html,<script>", { given: true }, /^images: the data URL: .* not image/],
  ["a file", () => "file:///etc/passwd", {}, /^images: a file: address is not an image/],
  ["text", () => "two words", {}, /^images: "two words" is not an image/],
  ["a private address", () => "http://10.0.0.1/a.png", {}, /^images: http:\/\/10\.0\.0\.1\/a\.png: .*refused to call 10\.0\.0\.1/],
  ["a page", () => `${url}/page`, {}, /^images: .*, not image$/],
  ["a picture as a video", () => `${url}/a.png`, { port: "videos", family: "video" }, /^videos: .*image\/png, not video$/],
])("fails permanently for %s", async (_what, reference, part, message) => {
  await expect(keep(fileOf(reference(), part))).rejects.toMatchObject({
    kind: "failed",
    reason: "EXECUTION_FAILED",
    message: expect.stringMatching(message) as string,
  });
});
