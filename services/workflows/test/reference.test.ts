import { randomUUID } from "node:crypto";
import { EVERYTHING, invalidAt, newOwner, startWorkflows, type RunningWorkflows } from "./harness";

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

const slugsOf = async (owner: string): Promise<string[]> =>
  (await service.client.listWorkflows({ ...EVERYTHING, userId: owner })).workflows
    .filter((row) => row.createdBy === owner)
    .map(({ slug }) => slug);

describe("a creation with a reference", () => {
  it("returns the same workflow when it is repeated, in its current state", async () => {
    const [owner, reference] = [newOwner(), randomUUID()];
    const first = await service.create(owner, { name: "Once", reference });
    await service.update(first.slug, owner, { description: "changed" });
    expect(await replica.create(owner, { name: "Once", reference })).toMatchObject({ slug: first.slug, description: "changed" });
    expect(await slugsOf(owner)).toEqual([first.slug]);
  });

  it("creates one workflow for many simultaneous attempts, over replicas", async () => {
    const [owner, reference] = [newOwner(), randomUUID()];
    const attempts = Array.from({ length: 20 }, (_, index) =>
      (index % 2 === 0 ? service : replica).create(owner, { name: "Twins", reference, maxWorkflows: 1 }),
    );
    const slugs = new Set((await Promise.all(attempts)).map(({ slug }) => slug));
    expect(await slugsOf(owner)).toEqual([...slugs]);
    expect(slugs.size).toBe(1);
  });

  it("doesn't recreate a deleted workflow, even if its slug has another workflow now", async () => {
    const owner = newOwner();
    const references = [randomUUID(), randomUUID(), randomUUID()];
    const name = `Deleted ${owner}`;
    const slugs = new Set<string>();
    for (const reference of references.slice(0, 2)) {
      const { slug } = await service.create(owner, { name, reference });
      slugs.add(slug);
      await service.client.deleteWorkflow({ slug, ownerId: owner });
    }
    const { slug } = await service.create(owner, { name, reference: references[2]! });
    expect(slugs).toEqual(new Set([slug]));
    for (const reference of references.slice(0, 2))
      await expect(replica.create(owner, { name, reference })).rejects.toMatchObject({ reason: "WORKFLOW_NOT_FOUND" });
    expect(await service.create(owner, { name, reference: references[2]! })).toMatchObject({ slug });
    expect(await slugsOf(owner)).toEqual([slug]);
  });

  it("doesn't count against its own cap when it is repeated, and another one does", async () => {
    const [owner, reference] = [newOwner(), randomUUID()];
    const first = await service.create(owner, { reference, maxWorkflows: 1 });
    expect((await service.create(owner, { reference, maxWorkflows: 1 })).slug).toBe(first.slug);
    await expect(service.create(owner, { reference: randomUUID(), maxWorkflows: 1 })).rejects.toMatchObject({
      reason: "WORKFLOW_CAP_REACHED",
    });
  });

  it("is per owner: the same reference of another owner is another workflow", async () => {
    const reference = randomUUID();
    const [one, other] = [await service.create(newOwner(), { reference }), await service.create(newOwner(), { reference })];
    expect(one.slug).not.toBe(other.slug);
  });

  it("is a new workflow each time without a reference", async () => {
    const owner = newOwner();
    await service.create(owner);
    await service.create(owner);
    expect(await slugsOf(owner)).toHaveLength(2);
  });

  it("has a reference of limited length", async () => {
    await expect(service.create(newOwner(), { reference: "x".repeat(256) })).rejects.toMatchObject(invalidAt("reference"));
  });
});
