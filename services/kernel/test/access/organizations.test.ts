import { roleReaches, ROLES, withinRole } from "../../src";

const ALL_OF = [
  ...["workflow:run", "workflow:read", "workflow:write", "webhook:receive"],
  ...["execution:read", "execution:cancel", "model:run", "agent:invoke"],
];

describe("roles", () => {
  it("include the rights of lower roles", () => {
    expect(ROLES.map((have) => ROLES.filter((need) => roleReaches(have, need)).length)).toEqual([4, 3, 2, 1]);
  });

  it.each([
    ["owner", ALL_OF],
    ["editor", ALL_OF],
    ["runner", ALL_OF.filter((capability) => capability !== "workflow:write")],
    ["viewer", ["workflow:read", "execution:read"]],
  ] as const)("keep %s the capabilities of the role", (role, remaining) => {
    expect(withinRole(ALL_OF, role)).toEqual(remaining);
  });

  it("limit wildcards to the role's capabilities, and add none", () => {
    expect(withinRole(["workflow:*"], "runner")).toEqual(["workflow:read", "workflow:run"]);
    expect(withinRole(["workflow:*:run", "workflow:poster:run"], "runner")).toEqual(["workflow:*:run", "workflow:poster:run"]);
    expect(withinRole(["workflow:*:run", "workflow:poster:run", "model:*", "workflow:write"], "viewer")).toEqual([]);
    expect(withinRole(["*"], "viewer")).toEqual(["workflow:read", "execution:read"]);
  });
});
