import { randomUUID } from "node:crypto";
import { LIMITS } from "@nodeloom/kernel";
import { connectMongo } from "@nodeloom/platform";
import { media as mediaProto, workflows as proto } from "@nodeloom/proto";
import { BASE_URL, EVERYTHING, get, invalidAt, newOwner, NOT_FOUND, startWorkflows, type RunningWorkflows } from "./harness";

let service: RunningWorkflows & { prefix: string };
beforeAll(async () => {
  service = await startWorkflows();
});
afterAll(() => service.stop());

const PNG = Buffer.concat([Buffer.from("89504e470d0a1a0a0000000d49484452", "hex"), Buffer.alloc(64, 7)]);
const dataUrl = (bytes: Buffer): string => `data:image/png;base64,${bytes.toString("base64")}`;
const NOT_APPROVED = { kind: "forbidden", reason: "ACCOUNT_NOT_APPROVED" };

const upload = async (ownerId: string): Promise<mediaProto.StoredObject> => {
  const messages = [
    { part: { $case: "header", value: mediaProto.UploadHeader.fromPartial({ ownerId }) } },
    { part: { $case: "chunk", value: PNG } },
    { part: { $case: "end", value: {} } },
  ] as mediaProto.UploadRequest[];
  return (await service.media.upload(messages, { deadlineMs: 20_000 })).object!;
};
const unique = (): string => `Template ${randomUUID()}`;
const template = (ownerId: string, more: Partial<proto.CreateWorkflowRequest> = {}): Promise<proto.Workflow> =>
  service.create(ownerId, { name: unique(), isTemplate: true, ...more });
const list = (userId: string, more: Partial<proto.ListWorkflowsRequest> = {}) =>
  service.client.listWorkflows({ ...EVERYTHING, userId, ...more });
const listedRow = async (userId: string, slug: string) => (await list(userId)).workflows.find((row) => row.slug === slug);
/** Assembled here, so that secret scanners don't report this file. */
const LEAK = ["ghp", "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"].join("_");
const sending = (header: string): string =>
  JSON.stringify([{ id: "web", type: "http-request", data: { url: "https://x.test", headers: { "x-token": header } } }]);
const SAFE = sending("{{secrets.GITHUB}}");
const cover = (image: string): string => JSON.stringify({ image, video: null });

describe("a graph with a text like a credential", () => {
  const LEAKS = {
    reason: "WORKFLOW_INVALID",
    message: expect.not.stringContaining(LEAK) as string,
    metadata: { issues: [{ nodeId: "web" }] },
  };
  const nodesJson = sending(LEAK);

  it("can't become a template, when it is created or later", async () => {
    const owner = newOwner();
    await expect(template(owner, { nodesJson })).rejects.toMatchObject(LEAKS);
    const { slug } = await service.create(owner, { name: unique(), nodesJson });
    await expect(service.update(slug, owner, { isTemplate: true })).rejects.toMatchObject(LEAKS);
    await service.update(slug, owner, { isTemplate: true, nodesJson: SAFE });
    await expect(service.update(slug, owner, { nodesJson })).rejects.toMatchObject(LEAKS);
    await service.update(slug, owner, { isTemplate: false, nodesJson });
  });

  it("stays a draft behind the version that others read, and can't be published", async () => {
    const owner = newOwner();
    const { slug } = await template(owner, { nodesJson: SAFE });
    const publish = () => service.client.publishVersion(proto.PublishVersionRequest.fromPartial({ slug, ownerId: owner }));
    await publish();
    await service.update(slug, owner, { nodesJson });
    await expect(publish()).rejects.toMatchObject(LEAKS);
    // A workflow can be published with a credential. Then it can't become a template, whatever its draft contains.
    await service.update(slug, owner, { isTemplate: false });
    await publish();
    await service.update(slug, owner, { nodesJson: SAFE });
    await expect(service.update(slug, owner, { isTemplate: true })).rejects.toMatchObject(LEAKS);
  });
});

it("lists an owner's workflows by the secrets that their drafts send", async () => {
  const [owner, other] = [newOwner(), newOwner()];
  const name = unique();
  const { slug } = await service.create(owner, { name, nodesJson: SAFE });
  await service.create(owner, { name: unique(), nodesJson: "[]" });
  await service.create(other, { name: unique(), nodesJson: SAFE });
  const uses = async () => (await service.client.listSecretUses({ ownerId: owner })).uses;
  expect(await uses()).toEqual([{ slug, name, secretNames: ["GITHUB"] }]);
  await service.update(slug, owner, { nodesJson: sending("{{token}}") });
  expect(await uses()).toEqual([]);
});

it("lists workflows of all accounts by the models in their drafts and newest versions, each account once", async () => {
  const owners = [newOwner(), newOwner()].sort();
  const [retiring, other] = [`model-${unique().toLowerCase()}`, `model-${unique().toLowerCase()}`];
  const naming = (model: string) => JSON.stringify([{ id: "n", type: "generate-image", data: { model } }]);
  const create = (owner: string, model: string) => service.create(owner, { name: unique(), nodesJson: naming(model) });
  const [draft, published, deleted] = [
    await create(owners[0]!, retiring),
    await create(owners[1]!, retiring),
    await create(owners[1]!, retiring),
  ];
  await create(owners[1]!, other);
  await service.client.publishVersion(proto.PublishVersionRequest.fromPartial({ slug: published.slug, ownerId: owners[1]! }));
  await service.update(published.slug, owners[1]!, { nodesJson: naming(other) });
  await service.client.deleteWorkflow(proto.DeleteWorkflowRequest.fromPartial({ slug: deleted.slug, ownerId: owners[1]! }));
  const { uses, nextCursor } = await service.client.listModelUses({ models: [retiring], cursor: "" });
  expect(uses).toEqual([
    { ownerId: owners[0], slug: draft.slug, name: draft.name, models: [retiring] },
    { ownerId: owners[1], slug: published.slug, name: published.name, models: [retiring] },
  ]);
  expect(nextCursor).toBe("");
  expect((await service.client.listModelUses({ models: [retiring], cursor: owners[0]! })).uses.map(({ ownerId }) => ownerId)).toEqual([
    owners[1],
  ]);
});

describe("publishing a template", () => {
  it("needs an approved account, at creation and later", async () => {
    const owner = newOwner();
    await expect(template(owner, { unapproved: true })).rejects.toMatchObject(NOT_APPROVED);
    const { slug } = await service.create(owner, { name: unique(), unapproved: true });
    await expect(service.update(slug, owner, { isTemplate: true, unapproved: true })).rejects.toMatchObject(NOT_APPROVED);
    expect(await service.update(slug, owner, { nodesJson: "[]", description: "a draft", unapproved: true })).toMatchObject({
      isTemplate: false,
    });
    await service.update(slug, owner, { isTemplate: true });
    await expect(service.update(slug, owner, { description: "seen by all", unapproved: true })).rejects.toMatchObject(NOT_APPROVED);
    expect(await service.update(slug, owner, { isTemplate: false, unapproved: true })).toMatchObject({ isTemplate: false });
  });

  it("is limited per account, also if many are published at once", async () => {
    const owner = newOwner();
    const settled = await Promise.allSettled(Array.from({ length: LIMITS.templates + 4 }, () => template(owner)));
    const published = settled.flatMap((one) => (one.status === "fulfilled" ? [one.value] : []));
    expect(published).toHaveLength(LIMITS.templates);
    const capError = { reason: "TEMPLATE_CAP_REACHED", metadata: { limit: LIMITS.templates } };
    const { slug } = await service.create(owner, { name: unique() });
    await expect(service.update(slug, owner, { isTemplate: true })).rejects.toMatchObject(capError);
    // Existing templates stay editable. If one stops being a template, its slot is free.
    await service.update(published[0]!.slug, owner, { isTemplate: true, description: "still here" });
    await service.update(published[0]!.slug, owner, { isTemplate: false });
    await service.update(slug, owner, { isTemplate: true });
  });
});

describe("covers and thumbnails", () => {
  it.each([
    "https://example.com/tracker.png",
    "javascript:alert(1)",
    "data:image/png;base64,AAAA",
    "/media/../x",
    `${BASE_URL}/other/x.png`,
  ])("rejects %s as a cover", async (image) => {
    await expect(service.create(newOwner(), { coverJson: cover(image) })).rejects.toMatchObject(invalidAt("cover.image"));
    const owner = newOwner();
    const { slug } = await service.create(owner);
    const coverJson = JSON.stringify({ image: null, video: image });
    await expect(service.update(slug, owner, { coverJson })).rejects.toMatchObject(invalidAt("cover.video"));
  });

  it.each(["https://example.com/tracker.png", "javascript:alert(1)", "data:text/html,<b>", dataUrl(Buffer.alloc(64 * 1024))])(
    "rejects %.40s as a thumbnail",
    async (thumbnail) => {
      await expect(service.create(newOwner(), { thumbnail })).rejects.toMatchObject(invalidAt("thumbnail"));
    },
  );

  it("accept stored files, and small images as data URLs, which lists show as addresses", async () => {
    const [owner, reader] = [newOwner(), newOwner()];
    const { url } = await upload(owner);
    const { slug } = await template(owner, { coverJson: cover(url), thumbnail: dataUrl(PNG) });
    expect(await get(service, slug, reader)).toMatchObject({ thumbnail: dataUrl(PNG), coverJson: cover(url) });
    const row = await listedRow(reader, slug);
    expect(row).toMatchObject({ coverJson: cover(url) });
    expect(row!.thumbnail).toMatch(/^http:\/\/public\.test\/media\/[0-9a-f]{32}\.png$/);
    const response = await fetch(service.mediaUrl + new URL(row!.thumbnail!).pathname);
    expect(Buffer.from(await response.arrayBuffer())).toEqual(PNG);
    expect((await listedRow(owner, slug))!.thumbnail).toBe(row!.thumbnail);
    await service.update(slug, owner, { thumbnail: url });
    expect((await listedRow(reader, slug))!.thumbnail).toBe(url);
    await service.update(slug, owner, { clearThumbnail: true });
    expect((await listedRow(reader, slug))!.thumbnail).toBeUndefined();
  });

  it("accept unchanged pictures from another public URL, and hide them from others", async () => {
    const [owner, reader] = [newOwner(), newOwner()];
    const { slug } = await template(owner, { thumbnail: dataUrl(PNG) });
    const old = { coverJson: cover("https://former.test/media/cover.png") };
    const connection = await connectMongo({ uri: process.env.MONGODB_URI!, database: service.database });
    await connection.collection<{ _id: string }>("workflows").updateOne({ _id: slug }, { $set: old });
    await connection.close();
    const stored = await get(service, slug, owner);
    expect(stored).toMatchObject(old);
    expect(await service.update(slug, owner, { ...old, name: "Sent back" })).toMatchObject(old);
    expect(await get(service, slug, reader)).toMatchObject({ coverJson: "" });
    expect(await listedRow(reader, slug)).toMatchObject({
      coverJson: "",
      thumbnail: expect.stringMatching(/^http:\/\/public\.test\/media\//) as string,
    });
    expect(await listedRow(owner, slug)).toMatchObject({ coverJson: old.coverJson });
    await expect(service.update(slug, owner, { coverJson: cover("https://example.com/other.png") })).rejects.toMatchObject(
      invalidAt("cover.image"),
    );
  });
});

describe("an owner's suspension", () => {
  const suspend = (ownerId: string, suspended: boolean, userRevision: number) =>
    service.client.setOwnerSuspended({ ownerId, suspended, userRevision });

  it("hides templates and public schemas from others until it ends, and an outdated one changes nothing", async () => {
    const [owner, reader] = [newOwner(), newOwner()];
    const { slug } = await template(owner, { publicPlayground: true });
    await suspend(owner, true, 3);
    await suspend(owner, false, 2);
    expect(await listedRow(reader, slug)).toBeUndefined();
    await expect(get(service, slug, reader)).rejects.toMatchObject(NOT_FOUND);
    await expect(service.client.getDefinition({ slug, userId: reader, knownRevision: 0, version: "" })).rejects.toMatchObject(NOT_FOUND);
    await expect(service.client.getPublicSchema({ slug })).rejects.toMatchObject(NOT_FOUND);
    expect(await get(service, slug, owner)).toMatchObject({ slug });
    await suspend(owner, false, 4);
    expect(await listedRow(reader, slug)).toBeDefined();
    expect((await service.client.getPublicSchema({ slug })).schema).toBeDefined();
  });
});

it("features templates, and nothing else", async () => {
  const { slug } = await template(newOwner());
  const reader = newOwner();
  expect(await service.client.featureTemplate({ slug, featured: true })).toMatchObject({ featured: true, wasFeatured: false });
  expect(await listedRow(reader, slug)).toMatchObject({ featured: true });
  expect(await service.client.featureTemplate({ slug, featured: false })).toMatchObject({ featured: false, wasFeatured: true });
  expect(await listedRow(reader, slug)).toMatchObject({ featured: false });
  const { slug: own } = await service.create(newOwner(), { name: unique() });
  await expect(service.client.featureTemplate({ slug: own, featured: true })).rejects.toMatchObject(NOT_FOUND);
});

describe("taking down", () => {
  const moderate = (slug: string, listed: boolean, reason = "") => service.client.moderateTemplate({ slug, listed, reason });

  it("hides a template from others; its owner sees the reason until it is restored", async () => {
    const [owner, reader] = [newOwner(), newOwner()];
    const { slug } = await template(owner, { publicPlayground: true });
    expect(await moderate(slug, false, "spam")).toMatchObject({ listed: false, wasListed: true, takedown: { reason: "spam" } });
    expect(await listedRow(reader, slug)).toBeUndefined();
    await expect(get(service, slug, reader)).rejects.toMatchObject(NOT_FOUND);
    await expect(service.client.getDefinition({ slug, userId: reader, knownRevision: 0, version: "" })).rejects.toMatchObject(NOT_FOUND);
    await expect(service.client.getPublicSchema({ slug })).rejects.toMatchObject(NOT_FOUND);
    expect(await get(service, slug, owner)).toMatchObject({ isTemplate: true, takedown: { reason: "spam" } });
    await service.update(slug, owner, { isTemplate: false });
    await service.update(slug, owner, { isTemplate: true });
    await expect(get(service, slug, reader)).rejects.toMatchObject(NOT_FOUND);
    expect(await moderate(slug, true)).toMatchObject({ listed: true, wasListed: false, earlierTakedown: { reason: "spam" } });
    expect(await listedRow(reader, slug)).toBeDefined();
  });

  it("is for templates only", async () => {
    const { slug } = await service.create(newOwner(), { name: unique() });
    await expect(moderate(slug, false)).rejects.toMatchObject(NOT_FOUND);
    await expect(moderate("no-such-template", false)).rejects.toMatchObject(NOT_FOUND);
  });
});

describe("lists", () => {
  it("are filtered by text, tag and folder, and read page by page, newest first", async () => {
    const owner = newOwner();
    const mark = randomUUID();
    const { folder } = await service.client.createFolder({ ownerId: owner, name: "Folder" });
    const folderId = folder!.id;
    const created: proto.Workflow[] = [];
    for (let index = 0; index < 5; index += 1) {
      const more = index % 2 ? { tags: [mark, "odd"], folderId } : { tags: [mark], description: "Even (a.b)" };
      created.unshift(await service.create(owner, { name: `Row ${index} ${mark}`, ...more }));
    }
    const other = await template(newOwner(), { tags: [mark], name: `Other ${mark}` });
    const slugs = async (more: Partial<proto.ListWorkflowsRequest>) => (await list(owner, more)).workflows.map(({ slug }) => slug);
    const own = created.map(({ slug }) => slug);
    expect(await slugs({ query: mark.toUpperCase() })).toEqual([other.slug, ...own]);
    expect(await slugs({ tag: mark })).toEqual([other.slug, ...own]);
    expect(await slugs({ query: mark, tag: "odd" })).toEqual([own[1], own[3]]);
    expect(await slugs({ query: "even (A.B)", tag: mark })).toEqual([own[0], own[2], own[4]]);
    for (const query of [".*", "[", "]", `${mark}, odd`, `[${mark}`]) expect(await slugs({ query, tag: mark })).toEqual([]);
    expect(await slugs({ folderId })).toEqual([own[1], own[3]]);
    expect(await slugs({ tag: mark, own: true })).toEqual(own);
    expect(await slugs({ tag: mark, own: true, limit: 1 })).toEqual(own.slice(0, 1));
    expect(await slugs({ rootLevel: true })).toEqual([own[0], own[2], own[4]]);
    const pages = [await list(owner, { tag: mark, limit: 4 })];
    expect(pages[0]!.nextCursor).not.toBe("");
    pages.push(await list(owner, { tag: mark, limit: 4, cursor: pages[0]!.nextCursor }));
    expect(pages.map(({ workflows }) => workflows.map(({ slug }) => slug))).toEqual([[other.slug, ...own.slice(0, 3)], own.slice(3)]);
    expect(pages[1]!.nextCursor).toBe("");
    await expect(list(owner, { cursor: "?" })).rejects.toMatchObject(invalidAt("cursor"));
    const { slug: odd } = await service.create(owner, { name: `a\0b ${mark}` });
    expect([await slugs({ query: "A\0B" }), await slugs({ query: "a\0" }), await slugs({ query: "b\0" })]).toEqual([[odd], [odd], []]);
  });
});

describe("cloning", () => {
  const clone = async (slug: string, userId: string, more: Partial<proto.CloneWorkflowRequest> = {}): Promise<proto.Workflow> =>
    (await service.client.cloneWorkflow(proto.CloneWorkflowRequest.fromPartial({ slug, userId, ...more }), { deadlineMs: 20_000 }))
      .workflow!;
  const nodes = (mediaId: string, url: string): string =>
    `[{"id":"m","type":"media-upload","data":{"mediaId":"${mediaId}","kept": 1.0}},{"id":"n","type":"note","data":{"text":"see ${url}"}}]`;

  it("creates a workflow of the caller, with copies of the files that it names", async () => {
    const [author, reader] = [newOwner(), newOwner()];
    const [file, picture, foreign] = [await upload(author), await upload(author), await upload(newOwner())];
    const nodesJson = nodes(file.id, foreign.url);
    const source = await template(author, { nodesJson, coverJson: cover(picture.url), tags: ["a"], description: "of the author" });
    const cloned = await clone(source.slug, reader, { reference: "r1" });
    const { objects: own } = await service.media.listObjects({ ownerId: reader, limit: 10, cursor: "" });
    expect(own).toHaveLength(2);
    const copied = (
      await service.media.getObjectsByKey({ keys: [new URL((JSON.parse(cloned.coverJson) as { image: string }).image).pathname.slice(7)] })
    ).objects[0]!;
    const other = own.find(({ id }) => id !== copied.id)!;
    expect(cloned).toMatchObject({
      ...{ name: source.name, createdBy: reader, isTemplate: false, tags: ["a"], description: "of the author" },
      nodesJson: nodes(other.id, foreign.url),
      coverJson: cover(copied.url),
    });
    expect(cloned.slug).not.toBe(source.slug);
    expect(await clone(source.slug, reader, { reference: "r1" })).toEqual(cloned);
    expect((await service.media.listObjects({ ownerId: reader, limit: 10, cursor: "" })).objects).toHaveLength(2);
    expect((await clone(source.slug, author, { name: "Mine twice" })).name).toBe("Mine twice");
  });

  it("copies the newest version of another user's template", async () => {
    const [author, reader] = [newOwner(), newOwner()];
    const { slug } = await template(author, { nodesJson: '[{"id":"one"}]' });
    await service.client.publishVersion(proto.PublishVersionRequest.fromPartial({ slug, ownerId: author }));
    await service.update(slug, author, { nodesJson: '[{"id":"two"}]' });
    expect((await clone(slug, reader)).nodesJson).toBe('[{"id":"one"}]');
    expect((await clone(slug, author)).nodesJson).toBe('[{"id":"two"}]');
  });

  it("is rejected for an unreadable workflow, beyond the cap, beyond the quota and without approval, and leaves no files then", async () => {
    const [author, reader] = [newOwner(), newOwner()];
    const file = await upload(author);
    const { slug } = await template(author, { nodesJson: nodes(file.id, "") });
    const { slug: hidden } = await service.create(author, { name: unique() });
    await expect(clone(hidden, reader)).rejects.toMatchObject(NOT_FOUND);
    await service.create(reader, { name: unique() });
    await expect(clone(slug, reader, { maxWorkflows: 1 })).rejects.toMatchObject({ reason: "WORKFLOW_CAP_REACHED" });
    await expect(clone(slug, reader, { mediaQuotaBytes: 10 })).rejects.toMatchObject({ reason: "MEDIA_QUOTA_EXCEEDED" });
    await expect(clone(slug, reader, { unapproved: true })).rejects.toMatchObject(NOT_APPROVED);
    expect((await service.media.listObjects({ ownerId: reader, limit: 10, cursor: "" })).objects).toEqual([]);
  });
});

describe("deleted slugs", () => {
  it("stay reserved for their owner, who can use them again", async () => {
    const [owner, other] = [newOwner(), newOwner()];
    const name = unique();
    const { slug } = await service.create(owner, { name });
    await service.client.deleteWorkflow({ slug, ownerId: owner });
    await expect(get(service, slug, owner)).rejects.toMatchObject(NOT_FOUND);
    expect((await service.create(other, { name })).slug).toBe(`${slug}-2`);
    const again = await service.create(owner, { name });
    expect(again.slug).toBe(slug);
    expect((await get(service, slug, owner)).createdBy).toBe(owner);
    expect((await service.create(owner, { name })).slug).toBe(`${slug}-3`);
    await service.client.deleteWorkflow({ slug: `${slug}-3`, ownerId: owner });
    expect((await service.create(other, { name })).slug).toBe(`${slug}-4`);
    await expect(service.client.deleteWorkflow({ slug: `${slug}-3`, ownerId: owner })).rejects.toMatchObject(NOT_FOUND);
    expect((await list(owner, { query: name })).workflows.map((row) => row.slug)).toEqual([slug]);
  });

  it("are never given to others, while they delete and create at the same time on two replicas", async () => {
    const [owner, other] = [newOwner(), newOwner()];
    const replica = await startWorkflows(service.prefix);
    try {
      for (let round = 0; round < 5; round += 1) {
        const name = unique();
        const { slug } = await service.create(owner, { name });
        const [, ...others] = await Promise.all([
          service.client.deleteWorkflow({ slug, ownerId: owner }),
          ...Array.from({ length: 4 }, (_, index) => (index % 2 ? service : replica).create(other, { name })),
        ]);
        expect(others.map((one) => (one as proto.Workflow).slug)).not.toContain(slug);
        const mine = await Promise.all([service.create(owner, { name }), replica.create(owner, { name })]);
        expect(mine.filter((one) => one.slug === slug)).toHaveLength(1);
      }
    } finally {
      await replica.close();
    }
  });

  it("don't count against the owner's cap", async () => {
    const owner = newOwner();
    const { slug } = await service.create(owner, { name: unique(), maxWorkflows: 1 });
    await service.client.deleteWorkflow({ slug, ownerId: owner });
    await service.create(owner, { name: unique(), maxWorkflows: 1 });
  });
});

describe("files that workflows name", () => {
  it("are found by id and by key: in graphs, versions, covers and thumbnails", async () => {
    const owner = newOwner();
    const files = await Promise.all(Array.from({ length: 5 }, () => upload(owner)));
    const [inGraph, inCover, asThumbnail, inVersion, unnamed] = files as [mediaProto.StoredObject, ...mediaProto.StoredObject[]];
    await service.create(owner, {
      name: unique(),
      nodesJson: JSON.stringify([{ id: "m", data: { mediaId: inGraph.id } }]),
      coverJson: cover(inCover!.url),
      thumbnail: asThumbnail!.url,
    });
    const versioned = await service.create(owner, {
      name: unique(),
      nodesJson: JSON.stringify([{ id: "v", data: { url: inVersion!.url } }]),
    });
    await service.client.publishVersion(proto.PublishVersionRequest.fromPartial({ slug: versioned.slug, ownerId: owner }));
    await service.update(versioned.slug, owner, { nodesJson: "[]" });
    const names = files.flatMap(({ id, key }) => [id, key]);
    const foundNames = (await service.client.findNamedMedia({ names })).names;
    expect(new Set(foundNames)).toEqual(new Set([inGraph.id, inCover!.key, asThumbnail!.key, inVersion!.key]));
    expect(foundNames).not.toContain(unnamed!.id);
  });

  it("are kept beyond 90 days: in a graph, a version and a cover", async () => {
    const owner = newOwner();
    const generate = async (): Promise<mediaProto.StoredObject> => {
      const request = mediaProto.IngestRequest.fromPartial({ id: `${randomUUID()}-0-0-0`, ownerId: owner, sourceUrl: dataUrl(PNG) });
      return (await service.media.ingest(request, { deadlineMs: 20_000 })).object!;
    };
    const [inGraph, inCover, inVersion, unnamed] = [await generate(), await generate(), await generate(), await generate()];
    const naming = (id: string) => ({ nodesJson: JSON.stringify([{ id: "m", type: "media-upload", data: { mediaId: id } }]) });
    await service.create(owner, { name: unique(), ...naming(inGraph.id), coverJson: cover(inCover.url) });
    const { slug } = await service.create(owner, { name: unique(), ...naming(inVersion.id) });
    await service.client.publishVersion(proto.PublishVersionRequest.fromPartial({ slug, ownerId: owner }));
    await service.update(slug, owner, { nodesJson: "[]" });
    const connection = await connectMongo({ uri: process.env.MONGODB_URI!, database: `${service.prefix}media` });
    const longAgo = { createdAt: new Date(Date.now() - 91 * 24 * 60 * 60_000) };
    await connection.collection("objects").updateMany({ ownerId: owner }, { $set: longAgo });
    await connection.close();

    let cursor = "";
    do cursor = (await service.media.removeExpired({ cursor }, { deadlineMs: 20_000 })).nextCursor;
    while (cursor !== "");
    const { objects } = await service.media.listObjects({ ownerId: owner, limit: 10, cursor: "" });
    expect(new Set(objects.map(({ id }) => id))).toEqual(new Set([inGraph, inCover, inVersion].map(({ id }) => id)));
    expect(objects.map(({ id }) => id)).not.toContain(unnamed.id);
  });
});
