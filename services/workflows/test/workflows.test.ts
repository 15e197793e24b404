import { connectMongo } from "@nodeloom/platform";
import { createWorkflowStore } from "../src/store/workflow-store";
import { EVERYTHING, newOwner, get, invalidAt, NOT_FOUND, startWorkflows, type RunningWorkflows } from "./harness";
import type { workflows as proto } from "@nodeloom/proto";

let service: RunningWorkflows;
let owner: string;
let other: string;

beforeAll(async () => {
  service = await startWorkflows();
});
afterAll(() => service.stop());
beforeEach(() => {
  owner = newOwner();
  other = newOwner();
});

const GRAPH = {
  nodesJson: JSON.stringify([
    {
      id: "in",
      type: "request-input",
      data: {
        fields: [
          { name: "prompt", type: "text", label: "Prompt", default: "a cat", required: true },
          { name: "style", type: "select", label: "Style", options: ["a", "b"], default: "b" },
          { name: "n", type: "number", label: "N", min: 1, max: 4 },
          { name: "a.$b", type: "json", label: "Odd", default: { "$x.y": null } },
        ],
        values: { prompt: "a dog" },
      },
    },
    { id: "gen", type: "generate-image", data: { model: "sandbox-image", inputs: { count: 2, prompt: "{{prompt}}" } } },
  ]),
  edgesJson: "[]",
};

const slugs = async (userId: string): Promise<string[]> =>
  (await service.client.listWorkflows({ ...EVERYTHING, userId })).workflows.map((row) => row.slug);

describe("creating", () => {
  it("returns the whole workflow", async () => {
    const before = Date.now();
    const created = await service.create(owner, {
      name: "Poster Maker",
      description: "d",
      tags: ["x"],
      hidden: true,
      thumbnail: "data:image/png;base64,iVBORw0KGgo=",
    });
    expect(created).toMatchObject({
      slug: expect.stringMatching(/^poster-maker(-\d+)?$/) as string,
      name: "Poster Maker",
      description: "d",
      tags: ["x"],
      isTemplate: false,
      hidden: true,
      archived: false,
      publicPlayground: false,
      folderId: undefined,
      thumbnail: "data:image/png;base64,iVBORw0KGgo=",
      coverJson: "",
      createdBy: owner,
      nodesJson: "[]",
      edgesJson: "[]",
      viewportJson: "{}",
      revision: created.createdAt!.getTime(),
    });
    expect(created.createdAt!.getTime()).toBeGreaterThanOrEqual(before);
    expect(created.updatedAt).toEqual(created.createdAt);
    expect(await get(service, created.slug, owner)).toEqual(created);
  });

  it.each<[string, Partial<proto.CreateWorkflowRequest>, string]>([
    ["an empty name", { name: "  " }, "name"],
    ["a long name", { name: "x".repeat(201) }, "name"],
    ["a long description", { description: "x".repeat(10_001) }, "description"],
    ["51 tags", { tags: Array<string>(51).fill("t") }, "tags"],
    ["a long tag", { tags: ["ok", "x".repeat(101)] }, "tags[1]"],
    ["nodes that are no JSON", { nodesJson: "[" }, "nodes"],
    ["nodes that are no array", { nodesJson: "{}" }, "nodes"],
    ["edges that are no array", { edgesJson: '"x"' }, "edges"],
    ["501 nodes", { nodesJson: JSON.stringify(Array(501).fill({})) }, "nodes"],
    ["2001 edges", { edgesJson: JSON.stringify(Array(2_001).fill({})) }, "edges"],
    ["a viewport that isn't an object", { viewportJson: "[]" }, "viewport"],
    ["a cover that isn't an object", { coverJson: '"url"' }, "cover"],
    ["a cover of many kilobytes", { coverJson: JSON.stringify({ image: "x".repeat(17_000) }) }, "cover"],
    ["a huge thumbnail", { thumbnail: "x".repeat(263_000) }, "thumbnail"],
    ["a huge text", { nodesJson: JSON.stringify([{}, { id: "1", data: { text: "x".repeat(263_000) } }]) }, "nodes[1].data.text"],
    ["bottomless nesting", { nodesJson: "[".repeat(100_000) + "]".repeat(100_000) }, "nodes"],
    ["an unknown folder", { folderId: "nowhere" }, "folderId"],
  ])("is rejected for %s, with its path", async (_what, settings, path) => {
    await expect(service.create(owner, settings)).rejects.toMatchObject(invalidAt(path));
    expect(await slugs(owner)).toEqual([]);
  });

  it("names every error at once", async () => {
    const creation = service.create(owner, { name: "", tags: Array<string>(60).fill("t"), edgesJson: "x" });
    await expect(creation).rejects.toMatchObject({ metadata: { issues: [{ path: "name" }, { path: "tags" }, { path: "edges" }] } });
  });

  it("counts visible characters", async () => {
    const settings = { name: "🧵".repeat(200), tags: ["🧵".repeat(100)], description: "🧵".repeat(10_000) };
    const { slug } = await service.create(owner, settings);
    expect(await get(service, slug, owner)).toMatchObject(settings);
    await expect(service.create(owner, { name: "🧵".repeat(201) })).rejects.toMatchObject(invalidAt("name"));
    await expect(service.client.createFolder({ ownerId: owner, name: settings.name })).resolves.toMatchObject({ folder: {} });
    await expect(service.client.createFolder({ ownerId: owner, name: "🧵".repeat(201) })).rejects.toMatchObject(invalidAt("name"));
    const publication = { slug, ownerId: owner, reference: "", unapproved: false, pinsModels: false, pinnedModels: {}, withoutRun: false };
    const note = "🧵".repeat(1_000);
    await expect(service.client.publishVersion({ ...publication, note })).resolves.toMatchObject({ version: { note } });
    await expect(service.client.publishVersion({ ...publication, note: `${note}🧵` })).rejects.toMatchObject(invalidAt("note"));
  });

  it("accepts files as data URLs longer than a text can be", async () => {
    const nodesJson = JSON.stringify([{ id: "m", type: "media-upload", data: { image: `data:image/png;base64,${"A".repeat(300_000)}` } }]);
    await expect(service.create(owner, { nodesJson })).resolves.toMatchObject({ createdBy: owner });
  });
});

describe("someone else's workflow", () => {
  it("doesn't exist, for reading and for writing", async () => {
    const { slug, revision } = await service.create(owner);
    const calls = [
      get(service, slug, other),
      service.client.getSchema({ version: "", slug, userId: other }),
      service.client.getDefinition({ version: "", slug, userId: other, knownRevision: 0 }),
      service.client.getDefinition({ version: "", slug, userId: other, knownRevision: revision }),
      service.update(slug, other, { name: "Mine now" }),
      service.update(slug, other, { name: "Mine now", ifRevision: 99 }),
      service.update(slug, other, { folderId: "nowhere" }),
      service.client.moveWorkflow({ slug, ownerId: other, folderId: undefined }),
      service.client.moveWorkflow({ slug, ownerId: other, folderId: "nowhere" }),
      service.client.deleteWorkflow({ slug, ownerId: other }),
    ];
    for (const call of calls) await expect(call).rejects.toMatchObject(NOT_FOUND);
    expect(await slugs(other)).toEqual(expect.not.arrayContaining([slug]));
    expect(await get(service, slug, owner)).toMatchObject({ name: "A workflow", revision });
  });

  it("is readable and runnable, but not writable, when it is a template", async () => {
    const { slug } = await service.create(owner, { isTemplate: true, ...GRAPH });
    expect(await slugs(other)).toContain(slug);
    expect(await get(service, slug, other)).toMatchObject({ slug, createdBy: owner });
    expect((await service.client.getDefinition({ version: "", slug, userId: other, knownRevision: 0 })).nodesJson).toBe(GRAPH.nodesJson);
    expect((await service.client.getSchema({ version: "", slug, userId: other })).schema!.fields).toHaveLength(4);
    await expect(service.update(slug, other, { name: "x" })).rejects.toMatchObject(NOT_FOUND);
    await expect(service.client.deleteWorkflow({ slug, ownerId: other })).rejects.toMatchObject(NOT_FOUND);
    await service.update(slug, owner, { isTemplate: false });
    expect(await slugs(other)).not.toContain(slug);
    await expect(get(service, slug, other)).rejects.toMatchObject(NOT_FOUND);
  });
});

/** A store query without filters. */
const NOTHING = { query: "", tag: "", folderId: undefined, own: false, after: undefined };

describe("listing", () => {
  it("has the caller's own and others' templates, the latest change first, without graphs", async () => {
    const first = await service.create(owner, { name: "First", ...GRAPH, coverJson: '{"image":"/media/u.png"}' });
    const template = await service.create(other, { name: "Template", isTemplate: true });
    const second = await service.create(owner, { name: "Second", isTemplate: true, archived: true });
    await service.create(other, { name: "Private" });
    await service.update(first.slug, owner, { description: "latest" });
    const { workflows } = await service.client.listWorkflows({ ...EVERYTHING, userId: owner });
    const relevant = workflows.filter((row) => [first.slug, template.slug, second.slug].includes(row.slug));
    expect(relevant.map((row) => row.slug)).toEqual([first.slug, second.slug, template.slug]);
    expect(workflows.filter((row) => row.name === "Private")).toEqual([]);
    expect(relevant[0]).toMatchObject({
      coverJson: '{"image":"/media/u.png"}',
      description: "latest",
      generators: [{ nodeId: "gen", model: "sandbox-image" }],
    });
    expect(relevant[0]).not.toHaveProperty("nodesJson");
  });

  it("has the same order if it takes several exchanges with the database", async () => {
    const created = [];
    for (let count = 0; count < 5; count += 1) created.push((await service.create(owner, { name: "Many" })).slug);
    await service.update(created[1]!, owner, { description: "latest" });
    const connection = await connectMongo({ uri: process.env.MONGODB_URI!, database: service.database });
    const listed = async (listBatch: number): Promise<string[]> => {
      const allSlugs: string[] = [];
      for await (const batch of createWorkflowStore(connection, listBatch).ownSummaries(owner, NOTHING, 0))
        allSlugs.push(...batch.map((row) => row.slug));
      connection.deleteModel("Workflow");
      return allSlugs;
    };
    const expected = [created[1], created[4], created[3], created[2], created[0]];
    expect(await listed(100)).toEqual(expected);
    expect(await listed(2)).toEqual(expected);
    await connection.close();
  });

  it("stays one message with any covers", async () => {
    const cover = (count: number): string => JSON.stringify({ image: "/media/c.png", note: "x".repeat(15_000), count });
    const rows = 450;
    for (let count = 0; count < rows; count += 10)
      await Promise.all(Array.from({ length: 10 }, () => service.create(owner, { coverJson: cover(count) })));
    const { workflows } = await service.client.listWorkflows({ ...EVERYTHING, userId: owner }, { deadlineMs: 20_000 });
    const own = workflows.filter((row) => row.createdBy === owner);
    expect(own.length).toBeGreaterThanOrEqual(rows);
    expect(own[0]!.coverJson).not.toBe("");
    expect(own.reduce((bytes, row) => bytes + row.coverJson.length, 0)).toBeLessThan(7 * 1024 * 1024);
  });
});

describe("updating", () => {
  it("overwrites the given members, keeps the others, and never changes the slug", async () => {
    const created = await service.create(owner, {
      name: "Before",
      description: "kept",
      tags: ["old"],
      thumbnail: "/media/t.png",
      ...GRAPH,
    });
    const updated = await service.update(created.slug, owner, {
      name: "After",
      tags: { values: [] },
      clearThumbnail: true,
      archived: true,
    });
    expect(updated).toMatchObject({
      slug: created.slug,
      name: "After",
      description: "kept",
      tags: [],
      thumbnail: undefined,
      archived: true,
      revision: created.revision + 1,
      ...GRAPH,
    });
    expect(updated.createdAt).toEqual(created.createdAt);
    expect(updated.generators).toEqual(created.generators);
    expect(await get(service, created.slug, owner)).toEqual(updated);
  });

  it("derives schema and generators again from a changed graph", async () => {
    const { slug } = await service.create(owner, GRAPH);
    await service.update(slug, owner, { nodesJson: '[{"id":"g2","type":"generate-video","data":{"model":"sandbox-video"}}]' });
    const { schema, generators } = await service.client.getSchema({ version: "", slug, userId: owner });
    expect([schema!.fields, schema!.valuesJson]).toEqual([[], "{}"]);
    expect(generators).toEqual([{ nodeId: "g2", model: "sandbox-video", inputsJson: "{}", items: 1 }]);
  });

  it("happens only at the named revision", async () => {
    const { slug, revision } = await service.create(owner);
    const updated = await service.update(slug, owner, { ifRevision: revision, name: "Second" });
    expect(updated.revision).toBe(revision + 1);
    for (const ifRevision of [revision, 0, -1, revision + 2]) {
      await expect(service.update(slug, owner, { ifRevision, name: "Lost" })).rejects.toMatchObject({
        kind: "precondition",
        reason: "PRECONDITION_FAILED",
      });
    }
    expect((await get(service, slug, owner)).name).toBe("Second");
  });

  it("changes nothing without members, and nothing with an invalid one", async () => {
    const created = await service.create(owner);
    expect(await service.update(created.slug, owner, {})).toEqual(created);
    await expect(service.update(created.slug, owner, { name: "New", nodesJson: "{}" })).rejects.toMatchObject(invalidAt("nodes"));
    expect(await get(service, created.slug, owner)).toEqual(created);
  });
});

describe("schemas", () => {
  it("list the fields as declared and the saved value of each", async () => {
    const { slug } = await service.create(owner, { name: "Schema", description: "about", ...GRAPH });
    const { schema, generators } = await service.client.getSchema({ version: "", slug, userId: owner });
    expect(schema).toEqual({
      name: "Schema",
      description: "about",
      fields: [
        {
          name: "prompt",
          type: "text",
          label: "Prompt",
          defaultJson: '"a cat"',
          options: [],
          required: true,
          min: undefined,
          max: undefined,
        },
        {
          name: "style",
          type: "select",
          label: "Style",
          defaultJson: '"b"',
          options: ["a", "b"],
          required: false,
          min: undefined,
          max: undefined,
        },
        { name: "n", type: "number", label: "N", defaultJson: "", options: [], required: false, min: 1, max: 4 },
        {
          name: "a.$b",
          type: "json",
          label: "Odd",
          defaultJson: '{"$x.y":null}',
          options: [],
          required: false,
          min: undefined,
          max: undefined,
        },
      ],
      valuesJson: '{"prompt":"a dog","style":"b","n":null,"a.$b":{"$x.y":null}}',
    });
    expect(generators).toEqual([{ nodeId: "gen", model: "sandbox-image", inputsJson: '{"count":2,"prompt: characters":10}', items: 1 }]);
  });

  it("count whole calls only", async () => {
    const picture = (id: string, inputs = {}): object => ({ id, type: "generate-image", data: { model: "sandbox-image", inputs } });
    const nodesJson = JSON.stringify([picture("a", { count: 1.5 }), picture("b")]);
    const edgesJson = JSON.stringify([{ source: "a", sourceHandle: "image", target: "b", targetHandle: "image" }]);
    const { slug } = await service.create(owner, { nodesJson, edgesJson });
    const items = async (): Promise<number[][]> => {
      const { workflows } = await service.client.listWorkflows({ ...EVERYTHING, userId: owner, own: true });
      const { generators } = await service.client.getSchema({ version: "", slug, userId: owner });
      return [workflows[0]!.generators, generators].map((uses) => uses.map((use) => use.items));
    };
    expect(await items()).toEqual([
      [1, 2],
      [1, 2],
    ]);
  });

  it("are empty without a request-input node", async () => {
    const { slug } = await service.create(owner);
    const { schema } = await service.client.getSchema({ version: "", slug, userId: owner });
    expect([schema!.fields, schema!.valuesJson]).toEqual([[], "{}"]);
  });

  it("are public only for public playgrounds", async () => {
    const { slug } = await service.create(owner, { isTemplate: true, ...GRAPH });
    await expect(service.client.getPublicSchema({ slug })).rejects.toMatchObject(NOT_FOUND);
    await service.update(slug, owner, { publicPlayground: true });
    expect((await service.client.getPublicSchema({ slug })).schema!.fields).toHaveLength(4);
    await expect(service.client.getPublicSchema({ slug: "no-such-workflow" })).rejects.toMatchObject(NOT_FOUND);
  });
});

it("lets others run a public playground and read its schema, and nothing more", async () => {
  const [reader, GRAPH_HIDDEN] = [newOwner(), { graphHidden: true }];
  const { slug } = await service.create(owner, { publicPlayground: true, ...GRAPH });
  const definition = (userId: string) => service.client.getDefinition({ slug, userId, knownRevision: 0, version: "" });
  expect(await definition(reader)).toMatchObject({ ...GRAPH_HIDDEN, createdBy: owner, nodesJson: GRAPH.nodesJson });
  expect(await definition(owner)).toMatchObject({ graphHidden: false });
  expect((await service.client.getSchema({ slug, userId: reader, version: "" })).schema!.fields).toHaveLength(4);
  await expect(service.client.getWorkflow({ slug, userId: reader })).rejects.toMatchObject(NOT_FOUND);
  await service.update(slug, owner, { isTemplate: true });
  expect(await definition(reader)).toMatchObject({ graphHidden: false });
  await service.update(slug, owner, { isTemplate: false, publicPlayground: false });
  await expect(definition(reader)).rejects.toMatchObject(NOT_FOUND);
});

describe("definitions", () => {
  it("omit the graph if the caller has it", async () => {
    const { slug, revision } = await service.create(owner, GRAPH);
    const ask = (knownRevision: number): Promise<proto.GetDefinitionResponse> =>
      service.client.getDefinition({ version: "", slug, userId: owner, knownRevision });
    expect(await ask(0)).toMatchObject({ slug, revision, unchanged: false, ...GRAPH });
    expect(await ask(revision)).toMatchObject({ slug, revision, unchanged: true, nodesJson: "", edgesJson: "" });
    await service.update(slug, owner, { name: "Changed" });
    expect(await ask(revision)).toMatchObject({ revision: revision + 1, unchanged: false, ...GRAPH });
  });

  it("of a deleted workflow are never used for the next one with its slug", async () => {
    const first = await service.create(owner, { name: "Short life" });
    await service.client.deleteWorkflow({ slug: first.slug, ownerId: owner });
    const second = await service.create(owner, { name: "Short life" });
    expect(second.slug).toBe(first.slug);
    const unchangedReply = await service.client.getDefinition({
      version: "",
      slug: first.slug,
      userId: owner,
      knownRevision: first.revision,
    });
    expect(unchangedReply.unchanged).toBe(false);
  });
});

describe("moving and deleting", () => {
  it("moves into a folder of the owner and back to the root level", async () => {
    const { slug, revision } = await service.create(owner);
    const mine = (await service.client.createFolder({ ownerId: owner, name: "Mine" })).folder!;
    const theirs = (await service.client.createFolder({ ownerId: other, name: "Theirs" })).folder!;
    const move = async (folderId?: string): Promise<proto.Workflow> =>
      (await service.client.moveWorkflow({ slug, ownerId: owner, folderId })).workflow!;
    expect(await move(mine.id)).toMatchObject({ folderId: mine.id, revision: revision + 1 });
    await expect(move(theirs.id)).rejects.toMatchObject(invalidAt("folderId"));
    await expect(service.update(slug, owner, { folderId: theirs.id })).rejects.toMatchObject(invalidAt("folderId"));
    expect(await move()).toMatchObject({ folderId: undefined, revision: revision + 2 });
    expect(await service.update(slug, owner, { folderId: mine.id })).toMatchObject({ folderId: mine.id });
    expect(await service.update(slug, owner, { clearFolderId: true })).toMatchObject({ folderId: undefined });
  });

  it("deletes permanently", async () => {
    const { slug } = await service.create(owner);
    await service.client.deleteWorkflow({ slug, ownerId: owner });
    await expect(get(service, slug, owner)).rejects.toMatchObject(NOT_FOUND);
    await expect(service.client.deleteWorkflow({ slug, ownerId: owner })).rejects.toMatchObject(NOT_FOUND);
  });
});

describe("folders", () => {
  const create = async (name: string, ownerId = owner): Promise<proto.Folder> =>
    (await service.client.createFolder({ ownerId, name })).folder!;

  it("are listed by name, each owner's own", async () => {
    for (const name of ["b", "a", "c"]) await create(name);
    await create("theirs", other);
    expect((await service.client.listFolders({ ownerId: owner })).folders.map((folder) => folder.name)).toEqual(["a", "b", "c"]);
  });

  it("can be renamed by their owner only", async () => {
    const { id } = await create("old");
    expect((await service.client.renameFolder({ ownerId: owner, folderId: id, name: "new" })).folder).toMatchObject({ id, name: "new" });
    for (const call of [
      () => service.client.renameFolder({ ownerId: other, folderId: id, name: "x" }),
      () => service.client.deleteFolder({ ownerId: other, folderId: id }),
    ]) {
      await expect(call()).rejects.toMatchObject({ kind: "not_found", reason: "NOT_FOUND" });
    }
  });

  it("reject empty and long names", async () => {
    for (const name of ["", "  ", "x".repeat(201)]) await expect(create(name)).rejects.toMatchObject(invalidAt("name"));
  });

  it("move their workflows to the root level when removed", async () => {
    const { id } = await create("short-lived");
    const { slug, revision } = await service.create(owner, { folderId: id });
    await service.client.deleteFolder({ ownerId: owner, folderId: id });
    expect(await get(service, slug, owner)).toMatchObject({ folderId: undefined, revision: revision + 1 });
    await expect(service.client.deleteFolder({ ownerId: owner, folderId: id })).rejects.toMatchObject({ reason: "NOT_FOUND" });
  });
});
