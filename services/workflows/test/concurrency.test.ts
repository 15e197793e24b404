import { randomUUID } from "node:crypto";
import { connectMongo } from "@nodeloom/platform";
import { EVERYTHING, get, newOwner, startWorkflows, type RunningWorkflows } from "./harness";

let service: RunningWorkflows & { prefix: string };
let replica: RunningWorkflows;

beforeAll(async () => {
  service = await startWorkflows();
  replica = await startWorkflows(service.prefix);
});
afterAll(async () => {
  await replica.close();
  await service.stop();
});

const either = (index: number): RunningWorkflows => (index % 2 === 0 ? service : replica);
const times = <T>(count: number, run: (index: number) => Promise<T>): Promise<PromiseSettledResult<T>[]> =>
  Promise.allSettled(Array.from({ length: count }, (_, index) => run(index)));
const fulfilled = <T>(results: PromiseSettledResult<T>[]): T[] =>
  results.flatMap((result) => (result.status === "fulfilled" ? [result.value] : []));
const refusals = (results: PromiseSettledResult<unknown>[]): unknown[] =>
  results.flatMap((result) => (result.status === "rejected" ? [result.reason as unknown] : []));
const CAP_REACHED = expect.objectContaining({
  kind: "forbidden",
  reason: "WORKFLOW_CAP_REACHED",
  metadata: { maxWorkflows: 1 },
}) as unknown;

describe("slugs under concurrent creates", () => {
  it("are dense for one name, over replicas and owners", async () => {
    const created = fulfilled(await times(30, (index) => either(index).create(newOwner(), { name: "Dense Name" })));
    const expected = ["dense-name", ...Array.from({ length: 29 }, (_, index) => `dense-name-${index + 2}`)];
    expect(created.map((workflow) => workflow.slug).sort()).toEqual(expected.sort());
  });

  it("fill the gap of a deleted one", async () => {
    const owner = newOwner();
    for (let count = 0; count < 3; count += 1) await service.create(owner, { name: "Gap" });
    await service.client.deleteWorkflow({ slug: "gap-2", ownerId: owner });
    expect((await service.create(owner, { name: "Gap" })).slug).toBe("gap-2");
    expect((await service.create(owner, { name: "Gap" })).slug).toBe("gap-4");
  });
});

describe("the cap on saved workflows", () => {
  it("lets exactly one of twenty concurrent creates through", async () => {
    const owner = newOwner();
    const results = await times(20, (index) => either(index).create(owner, { name: `Capped ${index}`, maxWorkflows: 1 }));
    expect(fulfilled(results)).toHaveLength(1);
    expect(refusals(results)).toEqual(Array(19).fill(CAP_REACHED));
    expect(
      (await service.client.listWorkflows({ ...EVERYTHING, userId: owner })).workflows.filter((row) => row.createdBy === owner),
    ).toHaveLength(1);
  });

  it("never exceeds a larger cap", async () => {
    const owner = newOwner();
    const results = await times(20, (index) => either(index).create(owner, { name: "Three", maxWorkflows: 3 }));
    expect(fulfilled(results)).toHaveLength(3);
  });

  it("is per owner, and absent if none is set", async () => {
    const results = await times(6, (index) => service.create(`${index}-${randomUUID()}`, { maxWorkflows: 1 }));
    expect(fulfilled(results)).toHaveLength(6);
    const owner = newOwner();
    expect(fulfilled(await times(5, () => service.create(owner)))).toHaveLength(5);
  });

  it("exempts templates, and counts one that stops being a template", async () => {
    const owner = newOwner();
    const templates = fulfilled(await times(3, () => service.create(owner, { isTemplate: true, maxWorkflows: 1 })));
    expect(templates).toHaveLength(3);
    const results = await times(3, (index) => either(index).update(templates[index]!.slug, owner, { isTemplate: false, maxWorkflows: 1 }));
    expect(fulfilled(results)).toHaveLength(1);
    expect(refusals(results)).toEqual([CAP_REACHED, CAP_REACHED]);
    await expect(service.create(owner, { maxWorkflows: 1 })).rejects.toMatchObject({ reason: "WORKFLOW_CAP_REACHED" });
    const counted = fulfilled(results)[0]!;
    expect(await service.update(counted.slug, owner, { isTemplate: false, name: "Renamed", maxWorkflows: 1 })).toMatchObject({
      name: "Renamed",
    });
  });

  it("counts workflows saved while there was no cap", async () => {
    const owner = newOwner();
    await service.create(owner);
    await service.create(owner);
    await expect(service.create(owner, { maxWorkflows: 1 })).rejects.toMatchObject({ reason: "WORKFLOW_CAP_REACHED" });
  });

  it("is freed by a deletion and when a workflow becomes a template", async () => {
    const owner = newOwner();
    const first = await service.create(owner, { maxWorkflows: 1 });
    await service.client.deleteWorkflow({ slug: first.slug, ownerId: owner });
    const second = await service.create(owner, { maxWorkflows: 1 });
    await service.update(second.slug, owner, { isTemplate: true });
    await expect(service.create(owner, { maxWorkflows: 1 })).resolves.toMatchObject({ createdBy: owner });
  });

  it("isn't used by a create that failed, nor for long by one whose process died", async () => {
    const owner = newOwner();
    await expect(service.create(owner, { maxWorkflows: 1, folderId: "nowhere" })).rejects.toMatchObject({ reason: "INVALID_REQUEST" });
    const connection = await connectMongo({ uri: process.env.MONGODB_URI!, database: service.database });
    const dead = { token: randomUUID(), creationId: randomUUID(), at: new Date(Date.now() - 120_000) };
    await connection.collection<{ _id: string }>("owners").insertOne({ _id: owner, claims: [dead] } as { _id: string });
    await expect(service.create(owner, { maxWorkflows: 1 })).resolves.toMatchObject({ createdBy: owner });
    expect(await connection.collection<{ _id: string; claims: unknown[] }>("owners").findOne({ _id: owner })).toMatchObject({ claims: [] });
    await connection.close();
  });
});

describe("updates", () => {
  it("lose nothing for twenty concurrent requests", async () => {
    const owner = newOwner();
    const { slug, revision } = await service.create(owner, { name: "Busy" });
    const nodes = (index: number): string => JSON.stringify([{ id: `n${index}`, type: "note", data: {} }]);
    const edges = (index: number): string => JSON.stringify([{ id: `e${index}`, source: "a", target: "b" }]);
    const results = await times(20, (index) =>
      either(index).update(
        slug,
        owner,
        index % 2 === 0 ? { nodesJson: nodes(index) } : { edgesJson: edges(index), description: "changed" },
      ),
    );
    expect(refusals(results)).toEqual([]);
    const stored = await get(service, slug, owner);
    expect(stored).toMatchObject({ revision: revision + 20, description: "changed" });
    expect(JSON.parse(stored.nodesJson)).toHaveLength(1);
    expect(JSON.parse(stored.edgesJson)).toHaveLength(1);
  });

  it("happen once for many that name the same revision", async () => {
    const owner = newOwner();
    const { slug, revision } = await service.create(owner);
    const results = await times(10, (index) => either(index).update(slug, owner, { ifRevision: revision, name: `Winner ${index}` }));
    expect(fulfilled(results)).toHaveLength(1);
    for (const refusal of refusals(results)) expect(refusal).toMatchObject({ kind: "precondition", reason: "PRECONDITION_FAILED" });
    expect(await get(service, slug, owner)).toMatchObject({ revision: revision + 1, name: fulfilled(results)[0]!.name });
  });
});

describe("folders", () => {
  it("keep no workflow after their removal, even if a save and a removal race", async () => {
    const owner = newOwner();
    for (let round = 0; round < 5; round += 1) {
      const { folder } = await service.client.createFolder({ ownerId: owner, name: "Racing" });
      const folderId = folder!.id;
      await Promise.allSettled([
        ...Array.from({ length: 4 }, (_, index) => either(index).create(owner, { folderId })),
        replica.client.deleteFolder({ ownerId: owner, folderId }),
      ]);
    }
    const { workflows } = await service.client.listWorkflows({ ...EVERYTHING, userId: owner });
    expect(workflows.filter((row) => row.createdBy === owner && row.folderId !== undefined)).toEqual([]);
  });
});
