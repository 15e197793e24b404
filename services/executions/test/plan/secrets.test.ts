import type { RunPlan } from "@nodeloom/kernel";
import { foreignKeys, foreignSecretIssues } from "../../src/plan/planner/inlining";
import { createRequireSecrets } from "../../src/plan/secrets";

const plan = (...secretNames: (string[] | undefined)[]): Pick<RunPlan, "steps" | "labels"> => ({
  steps: secretNames.map((secrets, index) => ({ id: `n${index}`, ...(secrets ? { secrets } : {}) })) as unknown as RunPlan["steps"],
  labels: { n1: "Charge" },
});

const of = (alias: string) => ({ userId: "me", alias, workflowSlug: "shop" });

it("reads nothing if a plan names no secrets", async () => {
  const listSecrets = jest.fn();
  await createRequireSecrets({ listSecrets })(plan(undefined, undefined), of(""));
  expect(listSecrets).not.toHaveBeenCalled();
});

it("rejects a plan that names secrets which its runner lacks, node by node", async () => {
  const owners: unknown[] = [];
  const listSecrets = (request: unknown) => {
    owners.push(request);
    return Promise.resolve({
      secrets: [{ name: "A", hint: "", hosts: [], workflows: [], setBy: "", setAt: undefined, createdAt: undefined }],
      configured: true,
    });
  };
  const require = createRequireSecrets({ listSecrets });
  await require(plan(["A"]), of("production"));
  await expect(require(plan(["A"], ["B", "C"]), of(""))).rejects.toMatchObject({
    reason: "WORKFLOW_INVALID",
    message:
      'the workflow can\'t run: "Charge" (n1): you have no secret B: set it first; "Charge" (n1): you have no secret C: set it first',
    metadata: { issues: [{ nodeId: "n1" }, { nodeId: "n1" }] },
  });
  expect(owners).toEqual([{ owner: "me" }, { owner: "me" }]);
});

it("rejects a run by an alias for which a secret has no value, and one without an alias", async () => {
  const value = { name: "A", hint: "", hosts: [], workflows: [], setBy: "", setAt: undefined, createdAt: undefined };
  const secrets = [value, { ...value, alias: "staging" }];
  const require = createRequireSecrets({ listSecrets: () => Promise.resolve({ secrets, configured: true }) });
  await require(plan(["A"]), of("staging"));
  await expect(require(plan(["A"]), of("production"))).rejects.toThrow("you have no secret A for the alias production");
  await expect(require(plan(["A"]), of(""))).rejects.toThrow("you have no secret A for runs without an alias");
});

it("rejects a node whose workflow a secret isn't limited to: the workflow whose graph contains the node counts", async () => {
  const value = { name: "A", hint: "", hosts: [], workflows: ["billing"], setBy: "", setAt: undefined, createdAt: undefined };
  const require = createRequireSecrets({ listSecrets: () => Promise.resolve({ secrets: [value], configured: true }) });
  const inner = (innerWorkflow: string) => ({ steps: plan(["A"]).steps.map((step) => ({ ...step, innerWorkflow })) });
  await require(inner("billing"), of(""));
  await require(plan(["A"]), { ...of(""), workflowSlug: "billing" });
  const message = "n0: the secret A is limited to the workflows billing: add shop to its workflows, or use another secret";
  await expect(require(plan(["A"]), of(""))).rejects.toMatchObject({
    ...{ reason: "WORKFLOW_INVALID", message: `the workflow can't run: ${message}` },
    metadata: { issues: [{ nodeId: "n0", code: "SECRET_LIMITED" }] },
  });
  await expect(require(inner("other"), { ...of(""), workflowSlug: "billing" })).rejects.toThrow("add other to its workflows");
});

describe("graphs of others", () => {
  it("can name no secrets; bypassed nodes and nodes that aren't requests don't matter, and no name is revealed", () => {
    const data = { url: "https://x.test/{{secrets.THEIRS}}" };
    const nodes = [
      { id: "a", type: "http-request", data },
      { id: "b", type: "http-request", data: { ...data, bypass: true } },
      { id: "c", type: "text-box", data: { text: "{{secrets.THEIRS}}" } },
      { id: "d", type: "http-request", data: { url: "https://x.test/{{other}}" } },
    ];
    const issues = foreignSecretIssues({ nodes, edges: [] });
    expect(issues).toMatchObject([{ nodeId: "a" }]);
    expect(JSON.stringify(issues)).not.toContain("THEIRS");
  });

  it("include those of other owners, and the runner's own inside of them", () => {
    const definition = (key: string, ownerId: string) => ({
      key,
      ownerId,
      graph: { key, nodesJson: "[]", edgesJson: "[]" },
      pinnedModels: [],
    });
    const inner = {
      definitions: [definition("mine", "me"), definition("theirs", "them"), definition("mine in theirs", "me"), definition("deeper", "me")],
      references: [
        ["", "x", "mine"],
        ["mine in theirs", "x", "deeper"],
        ["theirs", "x", "mine in theirs"],
        ["mine", "x", "theirs"],
      ] as [string, string, string][],
    };
    expect([...foreignKeys(inner, "me")].sort()).toEqual(["deeper", "mine in theirs", "theirs"]);
  });
});
