import { randomUUID } from "node:crypto";
import { LIMITS } from "@nodeloom/kernel";
import { workflows as proto } from "@nodeloom/proto";
import { get, newOwner, startWorkflows, type RunningWorkflows } from "../harness";

let service: RunningWorkflows;
beforeAll(async () => {
  service = await startWorkflows();
});
afterAll(() => service.stop());

const ALIAS_NOT_FOUND = { kind: "not_found", reason: "ALIAS_NOT_FOUND" };
const MOVED = { kind: "precondition", reason: "PRECONDITION_FAILED" };
const text = (words: string): string => JSON.stringify([{ id: "t", type: "text-box", data: { text: words } }]);

/** A workflow whose version n has the text n. Its draft has the next number. */
const withVersions = async (owner: string, count: number, more: object = {}): Promise<string> => {
  const { slug } = await service.create(owner, { nodesJson: text("1"), ...more });
  for (let version = 1; version <= count; version += 1) {
    await service.client.publishVersion(proto.PublishVersionRequest.fromPartial({ slug, ownerId: owner }));
    await service.update(slug, owner, { nodesJson: text(String(version + 1)) });
  }
  return slug;
};
const set = (slug: string, ownerId: string, name: string, version: number, more: Partial<proto.SetAliasRequest> = {}) =>
  service.client.setAlias(proto.SetAliasRequest.fromPartial({ slug, ownerId, name, version, ...more }));
const remove = (slug: string, ownerId: string, name: string) =>
  service.client.deleteAlias(proto.DeleteAliasRequest.fromPartial({ slug, ownerId, name }));
const definition = (slug: string, userId: string, selection: Partial<proto.GetDefinitionRequest> = {}) =>
  service.client.getDefinition(proto.GetDefinitionRequest.fromPartial({ slug, userId, ...selection }));
const aliases = async (slug: string, ownerId: string): Promise<Record<string, number>> => {
  const { aliases: listed } = await service.client.listAliases({ slug, ownerId });
  return Object.fromEntries(listed.map(({ name, version }) => [name, version]));
};

describe("aliases", () => {
  it("point to versions: production follows the newest one until it is set, and again once it is deleted", async () => {
    const owner = newOwner();
    const slug = await withVersions(owner, 3);
    expect(await aliases(slug, owner)).toEqual({ production: 3 });
    expect(await definition(slug, owner)).toMatchObject({ version: 3, alias: "production", nodesJson: text("3") });

    await set(slug, owner, "staging", 3);
    expect(await set(slug, owner, "production", 2)).toMatchObject({ alias: { version: 2, isDefault: false, updatedBy: owner } });
    expect(await aliases(slug, owner)).toEqual({ production: 2, staging: 3 });
    expect(await definition(slug, owner)).toMatchObject({ version: 2, alias: "production", nodesJson: text("2") });
    expect(await definition(slug, owner, { alias: "staging" })).toMatchObject({ version: 3, alias: "staging", nodesJson: text("3") });
    expect(await definition(slug, owner, { version: "3" })).toMatchObject({ version: 3, alias: "" });
    expect(await definition(slug, owner, { version: "draft" })).toMatchObject({ version: 0, alias: "", nodesJson: text("4") });
    const { schema } = await service.client.getSchema({ slug, userId: owner, version: "", alias: "staging" });
    expect(schema).toBeDefined();

    // Publishing doesn't move an alias that was set.
    await service.client.publishVersion(proto.PublishVersionRequest.fromPartial({ slug, ownerId: owner }));
    expect(await definition(slug, owner)).toMatchObject({ version: 2 });
    expect(await get(service, slug, owner)).toMatchObject({ publishedVersion: 4 });
    expect((await remove(slug, owner, "production")).earlier).toMatchObject({ version: 2 });
    expect(await definition(slug, owner)).toMatchObject({ version: 4, alias: "production" });
  });

  it("are unknown by other names, and the error names the unknown one", async () => {
    const owner = newOwner();
    const slug = await withVersions(owner, 1);
    await expect(definition(slug, owner, { alias: "staging" })).rejects.toMatchObject(ALIAS_NOT_FOUND);
    for (const name of ["staging", "constructor", "__proto__"]) {
      await expect(definition(slug, owner, { alias: name })).rejects.toMatchObject(ALIAS_NOT_FOUND);
      await expect(remove(slug, owner, name)).rejects.toMatchObject(ALIAS_NOT_FOUND);
    }
    await expect(remove(slug, owner, "production")).rejects.toMatchObject(ALIAS_NOT_FOUND);
    // A workflow inside another then uses production.
    expect(await definition(slug, owner, { alias: "staging", orProduction: true })).toMatchObject({ version: 1, alias: "production" });
  });

  it("move only from the version that the caller names", async () => {
    const owner = newOwner();
    const slug = await withVersions(owner, 3);
    // The default of production counts as its version.
    await expect(set(slug, owner, "production", 1, { ifVersion: 2 })).rejects.toMatchObject(MOVED);
    await set(slug, owner, "production", 2, { ifVersion: 3 });
    await expect(set(slug, owner, "staging", 1, { ifVersion: 1 })).rejects.toMatchObject(MOVED);
    expect(await set(slug, owner, "staging", 1, { ifVersion: 0 })).toMatchObject({ alias: { version: 1 } });
    await expect(set(slug, owner, "staging", 2, { ifVersion: 0 })).rejects.toMatchObject(MOVED);
    // If several callers move the alias from the same version, one succeeds.
    const moves = await Promise.allSettled([2, 3, 2, 3].map((version) => set(slug, owner, "staging", version, { ifVersion: 1 })));
    expect(moves.filter(({ status }) => status === "fulfilled")).toHaveLength(1);
  });

  it("have limits on names, versions and their number", async () => {
    const owner = newOwner();
    const slug = await withVersions(owner, 1);
    for (const name of ["", "Staging", "1st", "a".repeat(33), "a.b", "$set", "__proto__"])
      await expect(set(slug, owner, name, 1)).rejects.toMatchObject({ reason: "INVALID_REQUEST" });
    for (const version of [0, 2, -1])
      await expect(set(slug, owner, "staging", version)).rejects.toMatchObject({ reason: "VERSION_NOT_FOUND" });
    for (let count = 0; count < LIMITS.aliases; count += 1) await set(slug, owner, `a${count}`, 1);
    await expect(set(slug, owner, "one-more", 1)).rejects.toMatchObject({ reason: "INVALID_REQUEST" });
    await set(slug, owner, "a0", 1);
    await remove(slug, owner, "a0");
    await set(slug, owner, "constructor", 1);
    expect(await definition(slug, owner, { alias: "constructor" })).toMatchObject({ version: 1, alias: "constructor" });
  });

  it("of a template: other users get production, and no other alias", async () => {
    const [owner, reader] = [newOwner(), newOwner()];
    const slug = await withVersions(owner, 2, { isTemplate: true });
    await set(slug, owner, "staging", 2);
    await set(slug, owner, "production", 1);
    expect(await definition(slug, reader)).toMatchObject({ version: 1, nodesJson: text("1") });
    expect(await definition(slug, reader, { alias: "production" })).toMatchObject({ version: 1 });
    const unknown = { ...ALIAS_NOT_FOUND, message: "the workflow has no alias stagin" };
    await expect(definition(slug, reader, { alias: "staging" })).rejects.toMatchObject(ALIAS_NOT_FOUND);
    // Only the owner learns which aliases there are.
    await expect(definition(slug, reader, { alias: "stagin" })).rejects.toMatchObject(unknown);
    const misspelt = { ...ALIAS_NOT_FOUND, message: "the workflow has no alias stagin: did you mean staging?" };
    await expect(definition(slug, owner, { alias: "stagin" })).rejects.toMatchObject(misspelt);
    await expect(definition(slug, reader, { version: "2" })).rejects.toMatchObject({ reason: "VERSION_NOT_FOUND" });
    expect(await get(service, slug, reader)).toMatchObject({ nodesJson: text("1") });
    await expect(service.client.listAliases({ slug, ownerId: reader })).rejects.toMatchObject({ reason: "WORKFLOW_NOT_FOUND" });
    await expect(set(slug, reader, "production", 2)).rejects.toMatchObject({ reason: "WORKFLOW_NOT_FOUND" });
    await expect(set(slug, owner, "production", 2, { unapproved: true })).rejects.toMatchObject({ reason: "ACCOUNT_NOT_APPROVED" });
  });

  it("keep the approved graph of apps, hooks and schedules: production replaces a pending change", async () => {
    const owner = newOwner();
    const slug = await withVersions(owner, 1);
    await service.client.publishVersion(proto.PublishVersionRequest.fromPartial({ slug, ownerId: owner, withoutRun: true }));
    expect(await definition(slug, owner, { version: "approved" })).toMatchObject({ version: 1 });
    expect(await get(service, slug, owner)).toMatchObject({ pendingChange: true });
    await set(slug, owner, "production", 2);
    expect(await definition(slug, owner, { version: "approved" })).toMatchObject({ version: 2, alias: "production" });
    expect(await get(service, slug, owner)).toMatchObject({ pendingChange: false });
    await set(slug, owner, "staging", 1);
    expect(await definition(slug, owner, { version: "approved", alias: "staging" })).toMatchObject({ version: 1, alias: "staging" });
    // The caller who deletes the alias can run the workflow, and so approves the newest version.
    await service.client.publishVersion(
      proto.PublishVersionRequest.fromPartial({ slug, ownerId: owner, withoutRun: true, reference: randomUUID() }),
    );
    await remove(slug, owner, "production");
    expect(await definition(slug, owner, { version: "approved" })).toMatchObject({ version: 3, alias: "production" });
  });
});
