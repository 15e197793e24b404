import { randomUUID } from "node:crypto";
import { media } from "@nodeloom/proto";
import { startRecorder, type Recorder } from "../../../test-support/recorder";
import { OWNER, PNG, startMedia, type RunningMedia } from "./harness";

const { SOURCE_ORIGIN_PROVIDER: PROVIDER, SOURCE_ORIGIN_USER: USER } = media.SourceOrigin;

const hits: string[] = [];
let origin: Recorder;
/** One instance can reach the origin for providers, the other the origin for users. */
let forProviders: RunningMedia;
let forUsers: RunningMedia;

beforeAll(async () => {
  origin = await startRecorder((response, request) => {
    hits.push(request.path);
    if (request.path === "/hop") response.writeHead(302, { Location: "/image" }).end();
    else response.end(PNG);
  });
  forProviders = await startMedia([origin.address]);
  forUsers = await startMedia([], undefined, { USER_EGRESS_ALLOW: origin.address });
});
afterAll(async () => {
  await Promise.all([forProviders.stop(), forUsers.stop()]);
  await origin.close();
});
beforeEach(() => hits.splice(0));

const ingest = ({ client }: RunningMedia, path: string, sourceOrigin: media.SourceOrigin) =>
  client.ingest({ ownerId: OWNER, accept: [], making: undefined, id: randomUUID(), sourceUrl: origin.url + path, sourceOrigin });

it("can fetch a provider's URL, but not the same one from a user", async () => {
  await expect(ingest(forProviders, "/image", USER)).rejects.toMatchObject({
    reason: "EXECUTION_FAILED",
    message: expect.stringContaining(`refused to call ${origin.address}`) as string,
  });
  expect(hits).toEqual([]);
  await ingest(forProviders, "/image", PROVIDER);
  expect(hits).toEqual(["/image"]);
});

it("follows redirects of a provider's address, but none of a user's, not even to the same host", async () => {
  await ingest(forProviders, "/hop", PROVIDER);
  await ingest(forUsers, "/image", USER);
  expect(hits.splice(0)).toEqual(["/hop", "/image", "/image"]);
  await expect(ingest(forUsers, "/hop", USER)).rejects.toMatchObject({
    reason: "EXECUTION_FAILED",
    message: expect.stringMatching(/\/hop: could not be fetched: it answered 302$/) as string,
  });
  expect(hits).toEqual(["/hop"]);
});
