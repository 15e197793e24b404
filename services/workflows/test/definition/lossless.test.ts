import fc from "fast-check";
import { get, invalidAt, newOwner, startWorkflows, type RunningWorkflows } from "../harness";

let service: RunningWorkflows;
beforeAll(async () => {
  service = await startWorkflows();
});
afterAll(() => service.stop());

const owner = newOwner();

/** Keys and values that databases tend to change: operators, dots, prototypes, extremes. */
const awkwardKey = fc.constantFrom(
  "__proto__",
  "constructor",
  "a.b",
  "$x",
  "$set",
  "",
  " ",
  "toString",
  "_id",
  "🎉",
  "\u0000",
  "é",
  "e\u0301",
);
const awkwardText = fc.constantFrom(
  ...[
    '{"__proto__":{"polluted":true}}',
    "1e308",
    "-0",
    "1.0",
    "12345678901234567890",
    "0.1000",
    "{}",
    "[]",
    "null",
    '"\\ud800"',
    '"\\u0000"',
    '{"a":1,"a":2}',
    '{ "spaced" :  true }',
  ],
);
const json = fc.oneof(
  awkwardText,
  fc.json({ maxDepth: 4 }),
  fc.dictionary(awkwardKey, fc.jsonValue({ maxDepth: 2 })).map((value) => JSON.stringify(value)),
);
const array = fc.array(json, { maxLength: 5 }).map((items) => `[${items.join(", ")}]`);
const object = fc
  .array(fc.tuple(fc.oneof(awkwardKey, fc.string()), json), { maxLength: 4 })
  .map((members) => `{${members.map(([key, value]) => `${JSON.stringify(key)}:${value}`).join(",")}}`);

describe("a graph", () => {
  it("is returned byte for byte after create, update and another read", async () => {
    await fc.assert(
      fc.asyncProperty(array, array, object, object, async (nodesJson, edgesJson, viewportJson, coverJson) => {
        const texts = { nodesJson, edgesJson, viewportJson, coverJson };
        const created = await service.create(owner, { name: "Lossless", ...texts });
        expect(created).toMatchObject(texts);
        const { slug } = created;
        expect(await get(service, slug, owner)).toMatchObject(texts);
        const swapped = { nodesJson: edgesJson, edgesJson: nodesJson, viewportJson: coverJson, coverJson: viewportJson };
        expect(await service.update(slug, owner, swapped)).toMatchObject(swapped);
        expect(await get(service, slug, owner)).toMatchObject(swapped);
        const definition = await service.client.getDefinition({ version: "", slug, userId: owner, knownRevision: 0 });
        expect(definition).toMatchObject({ nodesJson: edgesJson, edgesJson: nodesJson, unchanged: false });
        await service.client.deleteWorkflow({ slug, ownerId: owner });
      }),
      { numRuns: 60 },
    );
    expect(({} as Record<string, unknown>).polluted).toBeUndefined();
  });

  it("can have unknown node kinds, members and ids", async () => {
    const nodesJson =
      '[{"id":"1","type":"from-the-future","data":{"$where":"x"},"secret":[1]},{"id":"1","type":"note"},{"type":"no-id"},42,null]';
    expect((await service.create(owner, { nodesJson, edgesJson: '["odd",{}]' })).nodesJson).toBe(nodesJson);
  });

  it("keeps the response of a GET that a PUT sends back", async () => {
    const created = await service.create(owner, {
      nodesJson: '[{"id":"a","type":"note","data":{}}]',
      viewportJson: '{"x":0.10,"y":-0,"zoom":1e0}',
      tags: ["a", "b"],
    });
    const { slug, name, description, tags, nodesJson, edgesJson, viewportJson, coverJson } = created;
    const again = await service.update(slug, owner, {
      name,
      description,
      tags: { values: tags },
      nodesJson,
      edgesJson,
      viewportJson,
      coverJson,
    });
    expect({ ...again, revision: 0, updatedAt: undefined }).toEqual({ ...created, revision: 0, updatedAt: undefined });
  });

  it("accepts at most 8 MB", async () => {
    const node = (index: number): string => JSON.stringify({ id: `n${index}`, type: "text-box", data: { text: "é".repeat(100_000) } });
    const nodes = (count: number): string => `[${Array.from({ length: count }, (_, index) => node(index)).join(",")}]`;
    const large = nodes(41);
    const { slug } = await service.create(owner, { nodesJson: large });
    expect((await get(service, slug, owner)).nodesJson === large).toBe(true);
    await expect(service.create(owner, { nodesJson: nodes(42) })).rejects.toMatchObject(invalidAt(""));
    const second = nodes(5);
    await expect(service.update(slug, owner, { edgesJson: second })).rejects.toMatchObject(invalidAt(""));
  });

  it("has at most as many values in all parts as a body can have", async () => {
    const list = (count: number): string => `[${Array.from({ length: count }, () => "1").join(",")}]`;
    const within = (count: number): string => `{"a":${list(count)}}`;
    const { slug } = await service.create(owner, { viewportJson: within(150_000) });
    await expect(service.update(slug, owner, { viewportJson: within(200_000) })).rejects.toMatchObject(invalidAt(""));
    // Each list counts as a value.
    await service.update(slug, owner, { viewportJson: within(199_990), coverJson: within(8) });
    await expect(service.update(slug, owner, { coverJson: within(9) })).rejects.toMatchObject(invalidAt(""));
    await service.update(slug, owner, { name: "Renamed" });
  });
});
