import { ROLES, roleReaches, withinRole } from "@nodeloom/kernel";
import { roleOf } from "../../src/auth/roles";
import { routes } from "../../src/routes";

const ANY = new Proxy<Record<string, string>>({}, { get: () => "any" });
const table = routes.map((route) => {
  const { capability } = route;
  return { route, needed: roleOf(route), capability: typeof capability === "function" ? capability(ANY) : capability };
});
const inOrganizations = table.filter(({ needed }) => needed !== "self");
const named = (rows: typeof table): string[] => rows.map(({ route }) => route.operationId).sort();

describe("the roles that routes need", () => {
  it("fit their capabilities: whoever's role reaches has them", () => {
    const without = inOrganizations.flatMap(({ route, needed, capability }) =>
      capability === undefined || needed === "self"
        ? []
        : ROLES.filter((role) => roleReaches(role, needed) && withinRole([capability], role).length === 0).map(() => route.operationId),
    );
    expect(without).toEqual([]);
  });

  it.each([
    ["viewer", ["getWorkflow", "getExecution", "listBudgets", "me"]],
    ["runner", ["runWorkflow", "runModel", "quoteWorkflow", "cancelExecution", "rerunExecution", "decideExecution", "redeliverWebhook"]],
    [
      "editor",
      ["createWorkflow", "deleteWorkflow", "publishVersion", "createKey", "listKeys", "putSecret", "uploadMedia", "createSchedule"],
    ],
    ["owner", ["setKeyBudget", "setMetadataBudget", "listMyLedger"]],
  ] as const)("let a %s do what the role is for, and nobody below", (role, operations) => {
    const found = inOrganizations.filter(({ route }) => (operations as readonly string[]).includes(route.operationId));
    expect(found.map(({ route, needed }) => [route.operationId, needed])).toEqual(found.map(({ route }) => [route.operationId, role]));
    expect(found).toHaveLength(operations.length);
  });

  it("are an owner where a route without a capability changes something, and says nothing", () => {
    const changing = inOrganizations.filter(({ route, capability }) => capability === undefined && route.method !== "GET");
    const silent = changing.filter(({ route }) => route.role === undefined);
    expect(silent.filter(({ needed }) => needed !== "owner")).toEqual([]);
    // What costs credits needs a runner at least, and only agents' requests are looked at one by one.
    expect(named(changing.filter(({ needed }) => needed === "viewer"))).toEqual(["mcp"]);
  });

  it("leave out only what is about the person, the platform, or needs no caller", () => {
    const left = table.filter(({ needed, route }) => needed === "self" && route.auth !== "none" && route.auth !== "hook");
    expect(new Set(left.map(({ route }) => route.tag))).toEqual(new Set(["Identity", "Organizations", "Admin"]));
    const ofPeople = left.filter(
      ({ route }) => route.tag !== "Admin" && !/^\/api\/(?:auth|me|organizations|invitations)\b/.test(route.path),
    );
    expect(named(ofPeople)).toEqual([]);
  });
});
