import { randomUUID } from "node:crypto";
import { signedPath } from "../../../test-support/signed";
import { EVERYTHING, get, invalidAt, newOwner, startWorkflows, type RunningWorkflows } from "./harness";

let service: RunningWorkflows & { prefix: string };
beforeAll(async () => {
  service = await startWorkflows();
});
afterAll(() => service.stop());

const SIGNATURE = Buffer.from("89504e470d0a1a0a0000000d49484452", "hex");
const png = (bytes: number, fill = 7): string =>
  `data:image/png;base64,${Buffer.concat([SIGNATURE, Buffer.alloc(bytes, fill)]).toString("base64")}`;
const OTHER = png(200, 8);
const PICTURE = png(100);
const BYTES = SIGNATURE.length + 100;

const filesOf = async (ownerId: string) => {
  const { objects, usedBytes } = await service.media.listObjects({ ownerId, limit: 10, cursor: "" });
  return { count: objects.length, usedBytes };
};

it("stores a thumbnail when it is saved, and counts its bytes", async () => {
  const owner = newOwner();
  await service.create(owner, { thumbnail: PICTURE });
  expect(await filesOf(owner)).toEqual({ count: 1, usedBytes: BYTES });
});

it("rejects one from an account that awaits approval, which can save everything else", async () => {
  const owner = newOwner();
  const notApproved = { reason: "ACCOUNT_NOT_APPROVED" };
  await expect(service.create(owner, { thumbnail: PICTURE, unapproved: true })).rejects.toMatchObject(notApproved);
  const { slug } = await service.create(owner, { unapproved: true });
  await expect(service.update(slug, owner, { thumbnail: PICTURE, unapproved: true })).rejects.toMatchObject(notApproved);
  expect(await filesOf(owner)).toEqual({ count: 0, usedBytes: 0 });
});

it("lets an account keep the thumbnail that it sends back unchanged", async () => {
  const owner = newOwner();
  const { slug } = await service.create(owner, { thumbnail: PICTURE });
  const again = await service.update(slug, owner, { thumbnail: PICTURE, description: "new", unapproved: true, mediaQuotaBytes: 0 });
  expect(again).toMatchObject({ thumbnail: PICTURE, description: "new" });
});

it("rejects one beyond the quota, and stores nothing of it", async () => {
  const owner = newOwner();
  const exceeded = { reason: "MEDIA_QUOTA_EXCEEDED" };
  await expect(service.create(owner, { thumbnail: PICTURE, mediaQuotaBytes: BYTES - 1 })).rejects.toMatchObject(exceeded);
  const { slug } = await service.create(owner);
  await expect(service.update(slug, owner, { thumbnail: PICTURE, mediaQuotaBytes: BYTES - 1 })).rejects.toMatchObject(exceeded);
  expect(await filesOf(owner)).toEqual({ count: 0, usedBytes: 0 });
  expect(await get(service, slug, owner)).toMatchObject({ thumbnail: undefined });
  await service.update(slug, owner, { thumbnail: PICTURE, mediaQuotaBytes: BYTES });
});

const SVG = '<svg xmlns="http://www.w3.org/2000/svg"><script>alert(1)</script></svg>';

it.each([
  ["an SVG", `data:image/svg+xml,${encodeURIComponent(SVG)}`],
  ["an SVG that says it is a PNG", `data:image/png;base64,${Buffer.from(SVG).toString("base64")}`],
  ["text", "data:image/png;base64,AAAA"],
  ["a video", `data:image/png;base64,${Buffer.from("\0\0\0\x18ftypisom\0\0\0\0isommp41", "latin1").toString("base64")}`],
  ["no base64", "data:image/png;base64,####"],
])("rejects %s", async (_, thumbnail) => {
  const owner = newOwner();
  await expect(service.create(owner, { thumbnail })).rejects.toMatchObject(invalidAt("thumbnail"));
  expect((await filesOf(owner)).count).toBe(0);
});

it("gives the reason why an SVG isn't accepted", async () => {
  await expect(service.create(newOwner(), { thumbnail: "data:image/svg+xml,<svg/>" })).rejects.toMatchObject({
    metadata: { issues: [{ path: "thumbnail", message: expect.stringContaining("can contain code") as string }] },
  });
});

it("removes the file when the thumbnail is replaced or removed, or its workflow deleted", async () => {
  const owner = newOwner();
  const { slug } = await service.create(owner, { thumbnail: PICTURE });
  await service.update(slug, owner, { thumbnail: OTHER });
  expect(await filesOf(owner)).toEqual({ count: 1, usedBytes: SIGNATURE.length + 200 });
  await service.update(slug, owner, { clearThumbnail: true });
  expect(await filesOf(owner)).toEqual({ count: 0, usedBytes: 0 });
  await service.update(slug, owner, { thumbnail: PICTURE });
  await service.client.deleteWorkflow({ slug, ownerId: owner });
  expect(await filesOf(owner)).toEqual({ count: 0, usedBytes: 0 });
});

it("stores a separate file for each of two workflows with one picture", async () => {
  const owner = newOwner();
  const [one, other] = [await service.create(owner, { thumbnail: PICTURE }), await service.create(owner, { thumbnail: PICTURE })];
  await service.client.deleteWorkflow({ slug: one.slug, ownerId: owner });
  const { workflows } = await service.client.listWorkflows({ ...EVERYTHING, userId: owner, own: true });
  const address = workflows.find(({ slug }) => slug === other.slug)!.thumbnail!;
  expect((await fetch(service.mediaUrl + signedPath(address))).status).toBe(200);
});

it("leaves no file of a workflow that wasn't created", async () => {
  const owner = newOwner();
  await service.create(owner, { maxWorkflows: 1 });
  await expect(service.create(owner, { maxWorkflows: 1, thumbnail: PICTURE })).rejects.toMatchObject({ reason: "WORKFLOW_CAP_REACHED" });
  expect((await filesOf(owner)).count).toBe(0);
});

it("stores one file for a repeated creation", async () => {
  const owner = newOwner();
  const reference = randomUUID();
  const created = await Promise.all([1, 2, 3].map(() => service.create(owner, { thumbnail: PICTURE, reference })));
  expect(new Set(created.map(({ slug }) => slug)).size).toBe(1);
  expect(await filesOf(owner)).toEqual({ count: 1, usedBytes: BYTES });
});

it("keeps only the last thumbnail of many concurrent changes", async () => {
  const owner = newOwner();
  const { slug } = await service.create(owner);
  await Promise.all([1, 2, 3, 4].map((fill) => service.update(slug, owner, { thumbnail: png(100, fill) })));
  expect(await filesOf(owner)).toEqual({ count: 1, usedBytes: BYTES });
});

it("copies it with a clone, whose owner must be approved for that", async () => {
  const { slug } = await service.create(newOwner(), { thumbnail: PICTURE, isTemplate: true });
  const [reader, waiting] = [newOwner(), newOwner()];
  const clone = (userId: string, unapproved: boolean) =>
    service.client.cloneWorkflow({
      slug,
      userId,
      name: "",
      maxWorkflows: undefined,
      withoutRun: false,
      reference: "",
      unapproved,
      mediaQuotaBytes: undefined,
    });
  expect((await clone(reader, false)).workflow).toMatchObject({ thumbnail: PICTURE });
  expect(await filesOf(reader)).toEqual({ count: 1, usedBytes: BYTES });
  expect((await clone(waiting, true)).workflow).toMatchObject({ thumbnail: undefined });
});
