import { LIMITS } from "@nodeloom/kernel";
import { groupSumsOf } from "../src/groups/groups";
import type { GroupedPart } from "../src/store";
import { createIds, idsBetween } from "../src/ids";

const row = (part: Partial<GroupedPart>): GroupedPart => ({
  ...{ source: "api-workflow", workflowSlug: "poster", keyId: "k1", metadata: {}, millicredits: 1 },
  ...part,
});
async function* rowsOf(rows: Iterable<GroupedPart>): AsyncGenerator<GroupedPart> {
  yield* rows;
}
const by = (what: "key" | "workflow" | "metadata", name = "") => ({ by: what, name, sources: [] });

it("adds runs up by key, workflow and metadata to the milli-credit, the most expensive first", async () => {
  const rows = [
    row({ millicredits: 5, metadata: { customer: "acme" } }),
    row({ millicredits: 7, metadata: { customer: "acme" }, keyId: "k2", workflowSlug: null }),
    row({ millicredits: 11, keyId: "", source: "canvas" }),
  ];
  expect(await groupSumsOf(rowsOf(rows), by("key"))).toEqual([
    { group: null, runs: 1, millicredits: 11 },
    { group: "k2", runs: 1, millicredits: 7 },
    { group: "k1", runs: 1, millicredits: 5 },
  ]);
  expect(await groupSumsOf(rowsOf(rows), by("metadata", "customer"))).toEqual([
    { group: "acme", runs: 2, millicredits: 12 },
    { group: null, runs: 1, millicredits: 11 },
  ]);
  expect(await groupSumsOf(rowsOf(rows), { ...by("workflow"), sources: ["api-workflow"] })).toEqual([
    { group: null, runs: 1, millicredits: 7 },
    { group: "poster", runs: 1, millicredits: 5 },
  ]);
});

it("counts runs without a key, and from before rows had one, as one group, and inherited names as none", async () => {
  const { keyId: _, ...older } = row({});
  expect(await groupSumsOf(rowsOf([older, row({ keyId: "" })]), by("key"))).toEqual([{ group: null, runs: 2, millicredits: 2 }]);
  expect(await groupSumsOf(rowsOf([row({})]), by("metadata", "constructor"))).toEqual([{ group: null, runs: 1, millicredits: 1 }]);
});

it("rejects more groups than a response can have", async () => {
  const many = Array.from({ length: LIMITS.usageGroups + 1 }, (_, index) => row({ keyId: `k${index}` }));
  await expect(groupSumsOf(rowsOf(many.slice(1)), by("key"))).resolves.toHaveLength(LIMITS.usageGroups);
  await expect(groupSumsOf(rowsOf(many), by("key"))).rejects.toMatchObject({ reason: "INVALID_REQUEST" });
});

it("finds rows of a time by ids created at its start or at its end", () => {
  const [from, to] = [new Date("2026-05-01T00:00:00Z"), new Date("2026-05-02T00:00:00Z")];
  const [first, last] = idsBetween(from, to);
  const idAt = (time: string): number => createIds(0, () => Date.parse(time))();
  expect(idAt("2026-05-01T00:00:00Z")).toBeGreaterThanOrEqual(first);
  expect(idAt("2026-05-31T23:00:00Z")).toBeLessThan(last);
  expect(idAt("2026-04-01T00:00:00Z")).toBeLessThan(first);
});
