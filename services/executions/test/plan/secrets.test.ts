import type { RunPlan } from "@nodeloom/kernel";
import { foreignKeys, foreignSecretIssues } from "../../src/plan/planner/inlining";
import { createRequireSecrets } from "../../src/plan/secrets";

const plan = (...secretNames: (string[] | undefined)[]): Pick<RunPlan, "steps" | "labels"> => ({
  steps: secretNames.map((secrets, index) => ({ id: `n${index}`, ...(secrets ? { secrets } : {}) })) as unknown as RunPlan["steps"],
  labels: { n1: "Charge" },
});

it("reads nothing if a plan names no secrets", async () => {
  const listSecrets = jest.fn();
  await createRequireSecrets({ listSecrets })(plan(undefined, undefined), "me", "");
  expect(listSecrets).not.toHaveBeenCalled();
});

it("rejects a plan that names secrets which its runner lacks, node by node", async () => {
  const owners: unknown[] = [];
  const listSecrets = (request: unknown) => {
    owners.push(request);
    return Promise.resolve({
      secrets: [{ name: "A", hint: "", hosts: [], setBy: "", setAt: undefined, createdAt: undefined }],
      configured: true,
    });
  };
  const require = createRequireSecrets({ listSecrets });
  await require(plan(["A"]), "me", "production");
  await expect(require(plan(["A"], ["B", "C"]), "me", "")).rejects.toMatchObject({
    reason: "WORKFLOW_INVALID",
    message:
      'the workflow can\'t run: "Charge" (n1): you have no secret B: set it first; "Charge" (n1): you have no secret C: set it first',
    metadata: { issues: [{ nodeId: "n1" }, { nodeId: "n1" }] },
  });
  expect(owners).toEqual([{ owner: "me" }, { owner: "me" }]);
});

it("rejects a run by an alias for which a secret has no value, and one without an alias", async () => {
  const value = { name: "A", hint: "", hosts: [], setBy: "", setAt: undefined, createdAt: undefined };
  const secrets = [value, { ...value, alias: "staging" }];
  const require = createRequireSecrets({ listSecrets: () => Promise.resolve({ secrets, configured: true }) });
  await require(plan(["A"]), "me", "staging");
  await expect(require(plan(["A"]), "me", "production")).rejects.toThrow("you have no secret A for the alias production");
  await expect(require(plan(["A"]), "me", "")).rejects.toThrow("you have no secret A for runs without an alias");
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
