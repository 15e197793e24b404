import { randomUUID } from "node:crypto";
import { connectMongo } from "@nodeloom/platform";
import { workflows as proto } from "@nodeloom/proto";
import { get, newOwner, NOT_FOUND, startWorkflows, type RunningWorkflows } from "../harness";

let service: RunningWorkflows & { prefix: string };
beforeAll(async () => {
  service = await startWorkflows();
});
afterAll(() => service.stop());

const VERSION_NOT_FOUND = { kind: "not_found", reason: "VERSION_NOT_FOUND" };
const text = (words: string): string => JSON.stringify([{ id: "t", type: "text-box", data: { text: words } }]);
const publish = async (slug: string, ownerId: string, more: Partial<proto.PublishVersionRequest> = {}): Promise<proto.Version> =>
  (await service.client.publishVersion(proto.PublishVersionRequest.fromPartial({ slug, ownerId, ...more }))).version!;
const definition = (slug: string, userId: string, version = "", knownRevision = 0) =>
  service.client.getDefinition({ slug, userId, version, knownRevision });
const list = async (slug: string, ownerId: string): Promise<number[]> =>
  (await service.client.listVersions({ slug, ownerId, limit: 100, before: 0 })).versions.map(({ version }) => version);

describe("a workflow without versions", () => {
  it("runs its draft", async () => {
    const owner = newOwner();
    const { slug } = await service.create(owner, { nodesJson: text("draft") });
    expect(await definition(slug, owner)).toMatchObject({ version: 0, nodesJson: text("draft") });
    expect(await get(service, slug, owner)).toMatchObject({ publishedVersion: 0, changedSincePublished: false });
    await expect(definition(slug, owner, "1")).rejects.toMatchObject(VERSION_NOT_FOUND);
  });
});

describe("a published workflow", () => {
  it("runs its newest version whatever happens to the draft, and others on request", async () => {
    const owner = newOwner();
    const { slug } = await service.create(owner, { nodesJson: text("one") });
    expect(await publish(slug, owner, { note: "first" })).toMatchObject({ version: 1, note: "first", createdBy: owner });
    await service.update(slug, owner, { nodesJson: text("two") });
    expect(await definition(slug, owner)).toMatchObject({ version: 1, nodesJson: text("one") });
    expect(await get(service, slug, owner)).toMatchObject({ publishedVersion: 1, changedSincePublished: true, nodesJson: text("two") });
    expect(await publish(slug, owner)).toMatchObject({ version: 2 });
    await service.update(slug, owner, { nodesJson: text("three") });
    const nodesOf = async (version: string) => (await definition(slug, owner, version)).nodesJson;
    expect(await Promise.all(["", "1", "2", "draft"].map(nodesOf))).toEqual([text("two"), text("one"), text("two"), text("three")]);
    expect(await list(slug, owner)).toEqual([2, 1]);
    expect((await service.client.getVersion({ slug, ownerId: owner, version: 1 })).version).toMatchObject({
      nodesJson: text("one"),
      note: "first",
    });
    await expect(nodesOf("3")).rejects.toMatchObject(VERSION_NOT_FOUND);
    await expect(nodesOf("one")).rejects.toMatchObject({ reason: "INVALID_REQUEST" });
  });

  it("isn't sent again to callers who have the current revision", async () => {
    const owner = newOwner();
    const { slug } = await service.create(owner, { nodesJson: text("one") });
    await publish(slug, owner);
    const currentDefinition = await definition(slug, owner);
    expect(await definition(slug, owner, "", currentDefinition.revision)).toMatchObject({ unchanged: true, version: 1, nodesJson: "" });
    await service.update(slug, owner, { nodesJson: text("two") });
    expect(await definition(slug, owner, "", currentDefinition.revision)).toMatchObject({ unchanged: true });
    expect(await definition(slug, owner, "draft", currentDefinition.revision)).toMatchObject({ unchanged: false, nodesJson: text("two") });
  });

  it("is unchanged if only the notation of its JSON, its name or its folder has changed", async () => {
    const owner = newOwner();
    const { slug } = await service.create(owner, { nodesJson: text("one") });
    await publish(slug, owner);
    await service.update(slug, owner, { nodesJson: JSON.stringify(JSON.parse(text("one")), null, 2), name: "Other" });
    expect(await get(service, slug, owner)).toMatchObject({ changedSincePublished: false });
  });

  it("can restore a version into its draft", async () => {
    const owner = newOwner();
    const { slug } = await service.create(owner, { nodesJson: text("one") });
    await publish(slug, owner);
    const { revision } = await service.update(slug, owner, { nodesJson: text("two"), name: "Kept" });
    const { workflow } = await service.client.restoreVersion({ slug, ownerId: owner, version: 1, withoutRun: false });
    expect(workflow).toMatchObject({ nodesJson: text("one"), name: "Kept", changedSincePublished: false, revision: revision + 1 });
  });

  it("has the input schema of the version that runs", async () => {
    const owner = newOwner();
    const fields = (name: string): string =>
      JSON.stringify([{ id: "in", type: "request-input", data: { fields: [{ name, type: "text" }] } }]);
    const { slug } = await service.create(owner, { nodesJson: fields("old"), publicPlayground: true });
    await publish(slug, owner);
    await service.update(slug, owner, { nodesJson: fields("new") });
    const names = async (version: string) =>
      (await service.client.getSchema({ slug, userId: owner, version })).schema!.fields.map(({ name }) => name);
    expect(await Promise.all(["", "1", "draft"].map(names))).toEqual([["old"], ["old"], ["new"]]);
    expect((await service.client.getPublicSchema({ slug })).schema!.fields[0]!.name).toBe("old");
  });
});

describe("tools", () => {
  const graph = (field: string): Pick<proto.CreateWorkflowRequest, "nodesJson" | "edgesJson"> => ({
    nodesJson: JSON.stringify([
      { id: "in", type: "request-input", data: { fields: [{ name: field, type: "text" }] } },
      { id: "out", type: "response-output", data: {} },
    ]),
    edgesJson: JSON.stringify([{ source: "in", sourceHandle: field, target: "out", targetHandle: `${field}-out` }]),
  });
  const tools = async (ownerId: string, more: Partial<proto.ListToolsRequest> = {}) =>
    (await service.client.listTools(proto.ListToolsRequest.fromPartial({ ownerId, limit: 100, ...more }))).tools;

  it("are the owner's workflows with the setting, by slug, in their newest versions", async () => {
    const owner = newOwner();
    const { slug } = await service.create(owner, { name: "Tool", mcp: true, ...graph("old") });
    const { slug: draft } = await service.create(owner, { name: "Another tool", mcp: true, ...graph("draft") });
    await service.create(owner, { name: "No tool", ...graph("none") });
    await service.create(newOwner(), { name: "Foreign", mcp: true, ...graph("foreign") });
    await publish(slug, owner);
    await service.update(slug, owner, graph("new"));
    const listed = await tools(owner);
    expect(listed.map(({ slug: one, fields, results }) => [one, fields.map(({ name }) => name), results])).toEqual([
      [draft, ["draft"], ["draft-out"]],
      [slug, ["old"], ["old-out"]],
    ]);
    expect((await tools(owner, { limit: 1 })).map((one) => one.slug)).toEqual([draft]);
    expect((await tools(owner, { after: draft })).map((one) => one.slug)).toEqual([slug]);
    expect((await tools(owner, { slug })).map(({ name }) => name)).toEqual(["Tool"]);
    await expect(tools(owner, { limit: 101 })).rejects.toMatchObject({ reason: "INVALID_REQUEST" });
  });

  it("are chosen by a person: a key can only send the setting unchanged", async () => {
    const owner = newOwner();
    const { slug } = await service.create(owner, { mcp: true });
    const sessionError = { reason: "SESSION_REQUIRED" };
    await expect(service.update(slug, owner, { mcp: false, byKey: true })).rejects.toMatchObject(sessionError);
    await expect(service.create(owner, { mcp: true, byKey: true })).rejects.toMatchObject(sessionError);
    expect(await service.update(slug, owner, { mcp: true, description: "new", byKey: true })).toMatchObject({
      mcp: true,
      description: "new",
    });
    expect(await service.update(slug, owner, { mcp: false })).toMatchObject({ mcp: false });
  });
});

describe("others", () => {
  it("read and run only the newest version of a template", async () => {
    const [owner, reader] = [newOwner(), newOwner()];
    const { slug } = await service.create(owner, { nodesJson: text("one"), isTemplate: true });
    expect(await definition(slug, reader)).toMatchObject({ version: 0, nodesJson: text("one") });
    await publish(slug, owner);
    await service.update(slug, owner, { nodesJson: text("two") });
    await publish(slug, owner);
    await service.update(slug, owner, { nodesJson: text("three") });
    expect(await get(service, slug, reader)).toMatchObject({ nodesJson: text("two"), publishedVersion: 2, changedSincePublished: false });
    expect(await definition(slug, reader)).toMatchObject({ version: 2, nodesJson: text("two") });
    expect(await definition(slug, reader, "2")).toMatchObject({ nodesJson: text("two") });
    for (const version of ["1", "draft"]) await expect(definition(slug, reader, version)).rejects.toMatchObject(VERSION_NOT_FOUND);
    await expect(publish(slug, reader)).rejects.toMatchObject(NOT_FOUND);
    await expect(list(slug, reader)).rejects.toMatchObject(NOT_FOUND);
    await expect(service.client.restoreVersion({ slug, ownerId: reader, version: 1, withoutRun: false })).rejects.toMatchObject(NOT_FOUND);
  });
});

describe("publishing", () => {
  it("numbers versions without gaps, however many publish at the same time", async () => {
    const owner = newOwner();
    const { slug } = await service.create(owner, { nodesJson: text("one") });
    const publications = await Promise.all(Array.from({ length: 6 }, () => publish(slug, owner)));
    expect(publications.map(({ version }) => version).sort()).toEqual([1, 2, 3, 4, 5, 6]);
    expect(await get(service, slug, owner)).toMatchObject({ publishedVersion: 6 });
  });

  it("creates one version for a repeated publication", async () => {
    const owner = newOwner();
    const { slug } = await service.create(owner);
    const reference = randomUUID();
    const first = await publish(slug, owner, { reference });
    expect(await publish(slug, owner, { reference })).toEqual(first);
    expect(await list(slug, owner)).toEqual([1]);
  });

  it("finishes the work of a publisher that died, and shows nothing of it before", async () => {
    const owner = newOwner();
    const { slug } = await service.create(owner, { nodesJson: text("one") });
    await publish(slug, owner);
    const connection = await connectMongo({ uri: process.env.MONGODB_URI!, database: service.database });
    const workflows = connection.collection<{ _id: string; published: { version: number } }>("workflows");
    const before = await workflows.findOne({ _id: slug });
    await service.update(slug, owner, { nodesJson: text("two") });
    await publish(slug, owner);
    await workflows.updateOne({ _id: slug }, { $set: { published: before!.published } });
    await connection.close();
    expect(await list(slug, owner)).toEqual([1]);
    await expect(definition(slug, owner, "2")).rejects.toMatchObject(VERSION_NOT_FOUND);
    await service.update(slug, owner, { nodesJson: text("three") });
    expect(await publish(slug, owner)).toMatchObject({ version: 3 });
    expect(await list(slug, owner)).toEqual([3, 2, 1]);
    expect((await definition(slug, owner, "2")).nodesJson).toBe(text("two"));
  });

  it("is rejected for a template of an account that awaits approval", async () => {
    const owner = newOwner();
    const { slug } = await service.create(owner, { isTemplate: true });
    await expect(publish(slug, owner, { unapproved: true })).rejects.toMatchObject({ reason: "ACCOUNT_NOT_APPROVED" });
  });
});

describe("deleting", () => {
  it("removes the versions: a workflow that gets the slug again has none", async () => {
    const owner = newOwner();
    const { slug } = await service.create(owner, { name: `Versioned ${randomUUID()}` });
    await publish(slug, owner);
    await service.client.deleteWorkflow({ slug, ownerId: owner });
    const again = await service.create(owner, { name: slug, nodesJson: text("new") });
    expect(again).toMatchObject({ slug, publishedVersion: 0 });
    expect(await list(slug, owner)).toEqual([]);
    expect(await definition(slug, owner)).toMatchObject({ version: 0, nodesJson: text("new") });
  });
});
