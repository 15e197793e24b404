import { workflows as proto } from "@nodeloom/proto";
import { get, newOwner, startWorkflows, type RunningWorkflows } from "../harness";

let service: RunningWorkflows;
beforeAll(async () => {
  service = await startWorkflows();
});
afterAll(() => service.stop());

const text = (words: string): string => JSON.stringify([{ id: "t", type: "text-box", data: { text: words } }]);
const graph = (words: string) => ({ nodesJson: text(words), edgesJson: "[]" });
/** A change by a caller who only has `workflow:write`. */
const withoutRun = (words: string) => ({ ...graph(words), withoutRun: true });
const publish = (slug: string, ownerId: string, more: Partial<proto.PublishVersionRequest> = {}) =>
  service.client.publishVersion(proto.PublishVersionRequest.fromPartial({ slug, ownerId, ...more }));
const approve = (slug: string, ownerId: string, ifRevision?: number) => service.client.approveGraph({ slug, ownerId, ifRevision });

/** The approved graph, the graph of normal runs, and true if the owner sees a pending change. */
const standing = async (slug: string, owner: string) => {
  const ask = (version: string) => service.client.getDefinition({ slug, userId: owner, version, knownRevision: 0 });
  const [approved, run, { pendingChange }] = await Promise.all([ask("approved"), ask(""), get(service, slug, owner)]);
  expect((await service.client.getSchema({ slug, userId: owner, version: "" })).pendingChange).toBe(pendingChange);
  return { approved: approved.nodesJson, run: run.nodesJson, pendingChange };
};

describe("a draft changed by a caller who can't run the workflow", () => {
  it("is used by runs, and by apps, hooks and schedules once a caller who can run it saves, publishes or confirms it", async () => {
    const ways: ((slug: string, owner: string) => Promise<unknown>)[] = [
      (slug, owner) => service.update(slug, owner, graph("two")),
      publish,
      (slug, owner) => approve(slug, owner),
    ];
    for (const confirm of ways) {
      const owner = newOwner();
      const { slug } = await service.create(owner, graph("one"));
      expect(await standing(slug, owner)).toEqual({ approved: text("one"), run: text("one"), pendingChange: false });
      for (const words of ["other", "two"]) await service.update(slug, owner, withoutRun(words));
      expect(await standing(slug, owner)).toEqual({ approved: text("one"), run: text("two"), pendingChange: true });
      await confirm(slug, owner);
      expect(await standing(slug, owner)).toEqual({ approved: text("two"), run: text("two"), pendingChange: false });
    }
  });

  it("stays pending if a caller who can run it saves only a part, and ends if it is reverted", async () => {
    const owner = newOwner();
    const { slug } = await service.create(owner, graph("one"));
    await service.update(slug, owner, withoutRun("two"));
    for (const part of [{ name: "Another name" }, { edgesJson: "[]" }]) await service.update(slug, owner, part);
    expect(await standing(slug, owner)).toMatchObject({ approved: text("one"), pendingChange: true });
    await service.update(slug, owner, withoutRun("one"));
    expect(await standing(slug, owner)).toMatchObject({ approved: text("one"), pendingChange: false });
  });

  it("can be confirmed only at a revision, by its owner", async () => {
    const owner = newOwner();
    const { slug, revision } = await service.create(owner, graph("one"));
    await service.update(slug, owner, withoutRun("two"));
    await expect(approve(slug, owner, revision)).rejects.toMatchObject({ reason: "PRECONDITION_FAILED" });
    await expect(approve(slug, newOwner())).rejects.toMatchObject({ reason: "WORKFLOW_NOT_FOUND" });
    await approve(slug, owner, revision + 1);
    expect(await standing(slug, owner)).toMatchObject({ approved: text("two"), pendingChange: false });
  });

  it("is pending after each change, and isn't a version", async () => {
    const owner = newOwner();
    const { slug } = await service.create(owner, graph("one"));
    for (const words of ["two", "three", "four"]) {
      const { approved } = await standing(slug, owner);
      await service.update(slug, owner, withoutRun(words));
      expect(await standing(slug, owner)).toEqual({ approved, run: text(words), pendingChange: true });
      await approve(slug, owner);
    }
    expect((await service.client.listVersions({ slug, ownerId: owner, limit: 100, before: 0 })).versions).toEqual([]);
  });
});

describe("a version published by a caller who can't run the workflow", () => {
  it("waits for one who can, whatever is published after it", async () => {
    const owner = newOwner();
    const { slug } = await service.create(owner, graph("one"));
    await publish(slug, owner);
    for (const words of ["two", "three"]) {
      await service.update(slug, owner, withoutRun(words));
      await publish(slug, owner, { withoutRun: true });
    }
    expect(await standing(slug, owner)).toEqual({ approved: text("one"), run: text("three"), pendingChange: true });
    // Normal runs don't use the draft.
    await service.update(slug, owner, graph("four"));
    expect(await standing(slug, owner)).toMatchObject({ approved: text("one"), pendingChange: true });
    await approve(slug, owner);
    expect(await standing(slug, owner)).toEqual({ approved: text("three"), run: text("three"), pendingChange: false });
    await publish(slug, owner);
    expect(await standing(slug, owner)).toMatchObject({ approved: text("four"), pendingChange: false });
  });

  it("changes nothing if it equals the approved graph", async () => {
    const owner = newOwner();
    const { slug } = await service.create(owner, graph("one"));
    await publish(slug, owner, { withoutRun: true });
    expect(await standing(slug, owner)).toMatchObject({ approved: text("one"), pendingChange: false });
  });

  it("keeps the draft approved that was changed before the publication", async () => {
    const owner = newOwner();
    const { slug } = await service.create(owner, graph("one"));
    await service.update(slug, owner, withoutRun("two"));
    await publish(slug, owner, { withoutRun: true });
    expect(await standing(slug, owner)).toEqual({ approved: text("one"), run: text("two"), pendingChange: true });
    await service.client.restoreVersion({ slug, ownerId: owner, version: 1, withoutRun: true });
    expect(await standing(slug, owner)).toMatchObject({ approved: text("one"), pendingChange: true });
  });
});

describe("a draft behind a version, named by a node in another workflow", () => {
  const draftOf = async (slug: string, owner: string) => {
    const request = { slug, userId: owner, version: "approved-draft", knownRevision: 0 };
    const { pendingChange } = await get(service, slug, owner);
    return [(await service.client.getDefinition(request)).nodesJson, pendingChange];
  };

  it("is also the one that a caller who can run the workflow approved last", async () => {
    const ways: ((slug: string, owner: string) => Promise<unknown>)[] = [
      (slug, owner) => service.update(slug, owner, graph("three")),
      publish,
      (slug, owner) => approve(slug, owner),
    ];
    for (const confirm of ways) {
      const owner = newOwner();
      const { slug } = await service.create(owner, graph("one"));
      await publish(slug, owner);
      await service.update(slug, owner, graph("two"));
      expect(await draftOf(slug, owner)).toEqual([text("two"), false]);
      for (const words of ["other", "three"]) await service.update(slug, owner, withoutRun(words));
      expect(await draftOf(slug, owner)).toEqual([text("two"), true]);
      expect(await standing(slug, owner)).toEqual({ approved: text("one"), run: text("one"), pendingChange: true });
      await service.update(slug, owner, { name: "Another name" });
      expect(await draftOf(slug, owner)).toEqual([text("two"), true]);
      await confirm(slug, owner);
      expect(await draftOf(slug, owner)).toEqual([text("three"), false]);
    }
  });

  it("is stored beside the draft that is approved for runs", async () => {
    const owner = newOwner();
    const { slug } = await service.create(owner, graph("one"));
    await service.update(slug, owner, withoutRun("two"));
    await publish(slug, owner, { withoutRun: true });
    await service.update(slug, owner, graph("three"));
    await service.update(slug, owner, withoutRun("four"));
    expect(await draftOf(slug, owner)).toEqual([text("three"), true]);
    expect(await standing(slug, owner)).toEqual({ approved: text("one"), run: text("two"), pendingChange: true });
  });

  it("doesn't exist until a caller who can run it has approved one, whatever is published", async () => {
    const owner = newOwner();
    const { slug } = await service.create(owner, withoutRun("one"));
    for (const words of ["two", "three"]) {
      await service.update(slug, owner, withoutRun(words));
      await publish(slug, owner, { withoutRun: true });
    }
    await expect(draftOf(slug, owner)).rejects.toMatchObject({ reason: "WORKFLOW_NOT_FOUND" });
  });
});

it("approves no graph of a workflow that its creator can't run, even under a slug with hooks", async () => {
  const owner = newOwner();
  const { slug } = await service.create(owner, graph("one"));
  await service.client.deleteWorkflow({ slug, ownerId: owner });
  const again = await service.create(owner, withoutRun("two"));
  expect([again.slug, again.pendingChange]).toEqual([slug, true]);
  const ask = () => service.client.getDefinition({ slug, userId: owner, version: "approved", knownRevision: 0 });
  await expect(ask()).rejects.toMatchObject({ reason: "WORKFLOW_NOT_FOUND" });
  await approve(slug, owner);
  expect(await ask()).toMatchObject({ nodesJson: text("two") });
});

it("shows visitors of an app the inputs of the graph they run", async () => {
  const owner = newOwner();
  const field = (name: string) => JSON.stringify([{ id: "in", type: "request-input", data: { fields: [{ name, type: "text" }] } }]);
  const app = proto.App.fromPartial({ published: true, payer: "owner", dailyMillicredits: 1_000, perVisitorPerDay: 5, theme: "auto" });
  const { slug } = await service.create(owner, { nodesJson: field("one"), edgesJson: "[]" });
  const fields = async () => (await service.client.getApp({ slug })).app!.schema!.fields.map(({ name }) => name);
  await service.update(slug, owner, { nodesJson: field("two"), withoutRun: true });
  // Publishing an app approves its graph.
  await service.update(slug, owner, { app });
  expect(await fields()).toEqual(["two"]);
  await service.update(slug, owner, { nodesJson: field("three"), withoutRun: true });
  expect(await fields()).toEqual(["two"]);
  await service.update(slug, owner, { app: { ...app, title: "Another title" } });
  expect(await fields()).toEqual(["two"]);
  await approve(slug, owner);
  expect(await fields()).toEqual(["three"]);
});

it("gives readers of another user's template the graph of its runs", async () => {
  const owner = newOwner();
  const { slug } = await service.create(owner, graph("one"));
  await service.update(slug, owner, withoutRun("two"));
  await service.update(slug, owner, { isTemplate: true });
  const reader = newOwner();
  const request = { slug, userId: reader, version: "approved", knownRevision: 0 };
  expect(await service.client.getDefinition(request)).toMatchObject({ nodesJson: text("two") });
  expect((await service.client.getWorkflow({ slug, userId: reader })).workflow).toMatchObject({ pendingChange: false });
});
