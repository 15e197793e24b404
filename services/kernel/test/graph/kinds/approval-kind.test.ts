import { isOfFiles, LIMITS, replacementIssues, valueTypeOf } from "@nodeloom/kernel";
import { approvalSettings } from "@nodeloom/kernel/graph";
import { input, issues, planned, type Edge, type Node } from "../../support";

const approvalOf = (data: Record<string, unknown> = {}): Node => ({ id: "ok", type: "approval", data });
const pic = (id: string): Node => ({ id, type: "generate-image", data: { model: "pic", inputs: { prompt: "{{what}}" } } });
const OUT: Node = { id: "out", type: "response-output" };
const FIELDS = input({ name: "what", type: "text" });
const EDGES: Edge[] = [
  ["in.what", "ok.value"],
  ["ok.approved", "yes.what"],
  ["ok.rejected", "no.what"],
  ["yes.image", "out.images"],
  ["no.image", "out.images"],
];

it("is always a step, and keeps both outcomes possible", () => {
  const plan = planned([FIELDS, approvalOf(), pic("yes"), pic("no"), OUT], EDGES, { what: "a boat" });
  expect(plan.steps.map(({ id, conditional }) => [id, conditional])).toEqual([
    ["ok", undefined],
    ["yes", true],
    ["no", true],
  ]);
  expect(plan.steps[0]).toMatchObject({ maxItems: 1, maxMillicredits: 0, sources: { value: [{ value: "a boat" }] } });
});

it("takes a list as a whole: one decision, and later nodes run per item", () => {
  const list: Node = { id: "in", type: "list", data: { items: ["a", "b", "c"] } };
  const plan = planned([list, approvalOf(), pic("yes"), OUT], [["in.items", "ok.value"], EDGES[1]!, EDGES[3]!], {});
  expect(plan.steps.map(({ id, maxItems }) => [id, maxItems])).toEqual([
    ["ok", 1],
    ["yes", 3],
  ]);
});

const APPROVERS = "approvers: must be at most 10 ids of members, roles or e-mail addresses";

it("accepts roles, ids and addresses of approvers, in lower case", () => {
  const approvers = ["editor", "0b0e7f52-7c0e-4d1c-9a53-0d9f6c9a1b11", "Ann@Example.test"];
  expect(issues([approvalOf({ approvers, notStarter: true }), OUT], [["ok.approved", "out.text"]])).toEqual([]);
  expect(approvalSettings({ approvers, notStarter: true })).toMatchObject({
    approvers: [...approvers.slice(0, 2), "ann@example.test"],
    notStarter: true,
  });
  expect(approvalSettings({})).toMatchObject({ approvers: [], notStarter: false });
});

it.each<[Record<string, unknown>, string]>([
  [{ title: 7 }, "title: must be text of at most 200 characters"],
  [{ timeoutHours: 0 }, "timeoutHours: must be a number above 0 and at most 720"],
  [{ timeoutHours: 721 }, "timeoutHours: must be a number above 0 and at most 720"],
  [{ onTimeout: "maybe" }, "onTimeout: must be one of reject, approve"],
  [{ approvers: "editor" }, APPROVERS],
  [{ approvers: ["boss"] }, APPROVERS],
  [{ approvers: ["{{who}}@example.test"] }, APPROVERS],
  [{ approvers: Array.from({ length: 11 }, (_, index) => `p${index}@example.test`) }, APPROVERS],
  [{ notStarter: "yes" }, "notStarter: must be true or false"],
])("rejects the settings %j", (data, message) => {
  expect(issues([approvalOf(data)], [])).toContainEqual({ nodeId: "ok", message });
});

it("rejects more approvals than a workflow can have", () => {
  const many = Array.from({ length: LIMITS.approvals + 1 }, (_, index): Node => ({ id: `a${index}`, type: "approval" }));
  expect(issues(many, [])).toEqual([expect.objectContaining({ nodeId: `a${LIMITS.approvals}` })]);
});

const IMAGE = { url: "https://x.test/a.png", contentType: "image/png" };
const VIDEO = { url: "https://x.test/a.mp4", contentType: "video/mp4" };

describe("the replacement of a value", () => {
  it.each<[unknown, unknown, string | undefined]>([
    ["a", "b", undefined],
    ["a", 7, "must be text, not a number"],
    ["a", ["a"], "must be text, like the original value"],
    ["a", "x".repeat(LIMITS.changedValueBytes), "must have at most 8192 bytes as JSON, and takes 8194"],
    ["y".repeat(LIMITS.changedValueBytes), "x".repeat(LIMITS.changedValueBytes), undefined],
    [["a", "b"], ["c"], undefined],
    [["a", "b"], ["c", "d", "e"], "must have at most 2 items, like the original list"],
    [["a", 1], [2, "b"], undefined],
    [["a"], [true], "must be a list of text, not true or false"],
    [["a"], "a", "must be a list, like the original value"],
    [IMAGE, { ...IMAGE, url: "https://x.test/b.png" }, undefined],
    [IMAGE, VIDEO, "must be an image, not a video"],
    [{ a: 1 }, { b: 2 }, undefined],
    [null, "a", "must be null, not text"],
  ])("%j by %j: %s", (shownValue, value, problem) => {
    expect(replacementIssues(valueTypeOf(shownValue), value).map(({ message }) => message)).toEqual(problem === undefined ? [] : [problem]);
  });

  it("distinguishes files from other items of a list", () => {
    expect([[IMAGE, VIDEO], [IMAGE, "a"], "a", []].map((value) => isOfFiles(valueTypeOf(value)))).toEqual([true, false, false, false]);
  });
});
