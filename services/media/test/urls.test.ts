import { innerOwner } from "@nodeloom/kernel";
import { connectMongo, createLogger, grpcService, startGrpcServer, unary, type RunningGrpcServer } from "@nodeloom/platform";
import { media, workflows as proto } from "@nodeloom/proto";
import type { Connection } from "mongoose";
import { createSignatures } from "../src/urls/signatures";
import { OWNER, PNG, startMedia, type RunningMedia } from "./harness";
import { signed, URL_KEY } from "../../../test-support/signed";

const { URL_LIFETIME_UNSPECIFIED: ANSWER, URL_LIFETIME_VISITOR: VISITOR, URL_LIFETIME_CALL: CALL } = media.UrlLifetime;
const OTHER = "user-2";
const HOUR_MS = 3_600_000;

let service: RunningMedia & { prefix: string };
let workflows: RunningGrpcServer;
let database: Connection;
/** Files that a template or an app shows. */
const shownNames = new Set<string>();

beforeAll(async () => {
  const findShownMedia = unary<proto.FindShownMediaRequest, proto.FindShownMediaResponse>(({ names }) =>
    Promise.resolve({ names: names.filter((name) => shownNames.has(name)) }),
  );
  const handlers = { findShownMedia } as unknown as proto.WorkflowsServiceServer;
  const services = [grpcService(proto.WorkflowsServiceService, handlers)];
  workflows = await startGrpcServer({ listen: "127.0.0.1:0", services, logger: createLogger("workflows", "silent") });
  service = await startMedia([], undefined, { WORKFLOWS_ADDRESS: `127.0.0.1:${workflows.port}` });
  database = await connectMongo({ uri: process.env.MONGODB_URI!, database: `${service.prefix}media` });
});
afterAll(async () => {
  await database.close();
  await service.stop();
  await workflows.stop();
});

const read = (keyWithQuery: string): Promise<Response> => fetch(`${service.http}/media/${keyWithQuery}`);
const statusOf = async (keyWithQuery: string): Promise<number> => (await read(keyWithQuery)).status;
const upload = (ownerId = OWNER): Promise<media.StoredObject> => service.upload(Buffer.concat([PNG, Buffer.from(ownerId)]), { ownerId });
const sign = (keys: string[], ownerId: string, lifetime = ANSWER): Promise<media.SignUrlsResponse> =>
  service.client.signUrls({ keys, ownerId, lifetime });
const admit = async (query: string, key: string, ownerId: string, byVisitor = false): Promise<string[]> => {
  const parameters = new URLSearchParams(query);
  const url = { key, expires: parameters.get("e") ?? "", signature: parameters.get("s") ?? "" };
  return (await service.client.admitUrls({ urls: [url], ownerId, byVisitor })).refused;
};
const grantsFor = (key: string): Promise<number> => database.collection("grants").countDocuments({ key });

describe("signatures", () => {
  const [OLD, NEW] = ["cd".repeat(32), "ef".repeat(32)];
  const now = Date.now();
  const until = Math.ceil(now / 1_000) + 60;
  const sentBy = (query: string) => ({ expires: /e=(\d+)/.exec(query)![1]!, signature: /s=(.+)/.exec(query)![1]! });

  it("stay valid while their key is configured, and the first key signs", () => {
    const old = sentBy(createSignatures([OLD]).sign("a.png", until));
    const both = createSignatures([NEW, OLD]);
    expect(both.isValid("a.png", old, now)).toBe(true);
    expect(createSignatures([NEW]).isValid("a.png", old, now)).toBe(false);
    expect(createSignatures([NEW]).isValid("a.png", sentBy(both.sign("a.png", until)), now)).toBe(true);
  });

  it("are valid for one file and until one time", () => {
    const signatures = createSignatures([OLD]);
    const sentSignature = sentBy(signatures.sign("a.png", until));
    expect(signatures.isValid("b.png", sentSignature, now)).toBe(false);
    expect(signatures.isValid("a.png", { ...sentSignature, expires: String(until + 1) }, now)).toBe(false);
    expect(signatures.isValid("a.png", sentSignature, until * 1_000 - 1)).toBe(true);
    expect(signatures.isValid("a.png", sentSignature, until * 1_000)).toBe(false);
    for (const signature of ["", "x", sentSignature.signature.slice(1), `${sentSignature.signature}A`])
      expect(signatures.isValid("a.png", { ...sentSignature, signature }, now)).toBe(false);
  });
});

it("serves a private file only with a valid signature", async () => {
  const [{ key }, another] = [await upload(), await upload()];
  expect(await statusOf(signed(key))).toBe(200);
  const foreign = `${key}?${signed(another.key).split("?")[1]!}`;
  const byOtherKey = `${key}?${createSignatures(["cd".repeat(32)]).sign(key, Math.floor(Date.now() / 1_000) + 60)}`;
  const expired = `${key}?${createSignatures([URL_KEY]).sign(key, Math.floor(Date.now() / 1_000) - 1)}`;
  for (const one of [key, foreign, byOtherKey, expired]) {
    const response = await read(one);
    expect(response.status).toBe(403);
    expect(response.headers.get("cache-control")).toBe("no-store");
    expect(await response.json()).toMatchObject({ code: "MEDIA_URL_EXPIRED" });
  }
});

it("serves files from before addresses were signed at their plain address, until their owner makes them private", async () => {
  const { id, key } = await upload();
  await database.collection("objects").updateOne({ _id: id as never }, { $unset: { private: "" } });
  const response = await read(key);
  expect([response.status, response.headers.get("cache-control")]).toEqual([200, "public, max-age=31536000, immutable"]);
  expect(await admit("", key, OTHER)).toEqual([]);
  await service.client.setPublic({ id, ownerId: OWNER, public: false });
  expect(await statusOf(key)).toBe(403);
});

it("serves a file at its plain address while its owner makes it public", async () => {
  const { id, key } = await upload();
  await expect(service.client.setPublic({ id, ownerId: OTHER, public: true })).rejects.toMatchObject({ reason: "NOT_FOUND" });
  await service.client.setPublic({ id, ownerId: OWNER, public: true });
  const response = await read(key);
  expect([response.status, response.headers.get("cache-control")]).toEqual([200, "public, max-age=300"]);
  await service.client.setPublic({ id, ownerId: OWNER, public: false });
  expect(await statusOf(key)).toBe(403);
});

it("serves a file that its owner's templates or apps show at its plain address", async () => {
  const { key } = await upload();
  shownNames.add(key);
  const response = await read(key);
  expect([response.status, response.headers.get("cache-control")]).toEqual([200, "public, max-age=300"]);
  expect(await admit("", key, OTHER)).toEqual([]);
  expect((await sign([key], OTHER)).refused).toEqual([]);
});

it("signs an account's own files, until the full hour after their time", async () => {
  const { key } = await upload();
  for (const [lifetime, hours] of [
    [ANSWER, 24],
    [VISITOR, 1],
  ] as const) {
    const { queries } = await sign([key], OWNER, lifetime);
    expect(await statusOf(`${key}?${queries[key]!}`)).toBe(200);
    const ends = Number(/e=(\d+)/.exec(queries[key]!)![1]) * 1_000;
    expect(ends % HOUR_MS).toBe(0);
    expect(ends - Date.now()).toBeGreaterThan((hours - 0.1) * HOUR_MS);
    expect(ends - Date.now()).toBeLessThanOrEqual((hours + 1) * HOUR_MS);
  }
  expect(await sign([key], OTHER)).toEqual({ queries: {}, refused: [key] });
});

it("signs the files of hidden graphs only for calls", async () => {
  const { key } = await upload(innerOwner(OWNER));
  expect(await sign([key], OWNER, ANSWER)).toEqual({ queries: {}, refused: [key] });
  expect((await sign([key], OWNER, CALL)).refused).toEqual([]);
});

it("accepts another account's file only by a valid signature, which becomes a grant", async () => {
  const { key } = await upload();
  const query = signed(key).split("?")[1]!;
  for (const bad of ["", query.replace(/e=\d+/, "e=1700000000"), query.slice(0, -1)]) expect(await admit(bad, key, OTHER)).toEqual([key]);
  expect(await grantsFor(key)).toBe(0);
  for (let times = 0; times < 2; times += 1) expect(await admit(query, key, OTHER)).toEqual([]);
  expect(await grantsFor(key)).toBe(1);
  expect(await admit("", key, OTHER)).toEqual([]);
  expect(Object.keys((await sign([key], OTHER)).queries)).toEqual([key]);
});

it("requires a valid signature from a visitor, also for files of the account", async () => {
  const { key } = await upload();
  expect(await admit("", key, OWNER)).toEqual([]);
  expect(await admit("", key, OWNER, true)).toEqual([key]);
  expect(await admit(signed(key).split("?")[1]!, key, OWNER, true)).toEqual([]);
});

it("grants only files that the granting account can read", async () => {
  const { key } = await upload();
  await service.client.grantObjects({ keys: [key], fromOwnerId: OTHER, ownerId: "user-3" });
  expect((await sign([key], "user-3")).refused).toEqual([key]);
  for (const [from, to] of [
    [OWNER, OTHER],
    [OTHER, "user-3"],
  ] as const)
    await service.client.grantObjects({ keys: [key], fromOwnerId: from, ownerId: to });
  expect((await sign([key], "user-3")).refused).toEqual([]);
});

it("removes the grants for a file with the file", async () => {
  const { id, key } = await upload();
  await service.client.grantObjects({ keys: [key], fromOwnerId: OWNER, ownerId: OTHER });
  await service.client.deleteObject({ id, ownerId: OWNER });
  expect(await grantsFor(key)).toBe(0);
  expect(await statusOf(signed(key))).toBe(404);
});
