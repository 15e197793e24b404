import {
  BY_NAME,
  CEILINGS,
  covers,
  effectiveCapabilities,
  isCapability,
  likelyCapability,
  lowestTierFor,
  PLANS,
  presetCapabilities,
  PRESETS,
  sessionCapabilities,
  TIERS,
  withinCeiling,
  withinRole,
  type BaseTier,
} from "@nodeloom/kernel";

it.each([
  ["workflow:read", "pro"],
  ["workflow:my-slug:run", "pro"],
  ["model:run", "business"],
  ["model:sandbox-image:run", "business"],
  ["model:*", "business"],
  ["*", undefined],
])("the lowest tier with %s is %s", (capability, tier) => expect(lowestTierFor(capability)).toBe(tier));

it.each([
  ["workflow:raed", ": did you mean workflow:read?"],
  ["model:runn", ": did you mean model:run?"],
  ["workflwo:my-slug:run", ": did you mean workflow:my-slug:run?"],
  ["model:sandbox-image:rn", ": did you mean model:sandbox-image:run?"],
  ["everything", ""],
])("suggests a capability for the misspelt %s%s", (value, suggestion) => expect(likelyCapability(value)).toBe(suggestion));

describe("covers", () => {
  it.each<[string[], string, boolean]>([
    [["*"], "workflow:write", true],
    [["*"], "workflow:my-slug:run", true],
    [["workflow:read"], "workflow:read", true],
    [["workflow:read"], "workflow:write", false],
    [["workflow:*"], "workflow:write", true],
    [["workflow:*"], "workflow:my-slug:run", true],
    [["workflow:*"], "model:run", false],
    [["workflow:run"], "workflow:my-slug:run", true],
    [["workflow:run"], "workflow:run", true],
    [["workflow:my-slug:run"], "workflow:my-slug:run", true],
    [["workflow:my-slug:run"], "workflow:other:run", false],
    [["workflow:my-slug:run"], "workflow:run", false],
    [["workflow:*:run"], "workflow:my-slug:run", true],
    [["model:*:run"], "workflow:my-slug:run", false],
    [["model:run"], "model:sandbox-image:run", true],
    [["model:run"], "workflow:write", false],
    [["execution:read"], "execution:cancel", false],
    [[], "workflow:read", false],
  ])("%j covering %s is %s", (grants, required, expected) => {
    expect(covers(grants, required)).toBe(expected);
  });
});

describe("ceilings", () => {
  const table: Record<string, readonly BaseTier[]> = {
    "workflow:run": ["pro", "business", "enterprise"],
    "workflow:my-slug:run": ["pro", "business", "enterprise"],
    "workflow:*": ["pro", "business", "enterprise"],
    "workflow:read": ["pro", "business", "enterprise"],
    "workflow:write": ["pro", "business", "enterprise"],
    "webhook:receive": ["pro", "business", "enterprise"],
    "execution:read": ["pro", "business", "enterprise"],
    "execution:cancel": ["pro", "business", "enterprise"],
    "model:run": ["business", "enterprise"],
    "model:sandbox-image:run": ["business", "enterprise"],
    "model:*": ["business", "enterprise"],
    "agent:invoke": ["business", "enterprise"],
    "*": [],
  };
  const rows = Object.entries(table).flatMap(([capability, allowed]) =>
    TIERS.map((tier): [string, BaseTier, boolean] => [capability, tier, allowed.includes(tier)]),
  );

  it.each(rows)("%s can be granted to a %s key: %s", (capability, tier, expected) => {
    expect(withinCeiling(capability, tier)).toBe(expected);
  });

  it("lets an administrator grant everything", () => {
    expect(Object.keys(table).every((capability) => withinCeiling(capability, "free", true))).toBe(true);
  });

  it("limits a key's grants to its owner's current ceiling", () => {
    expect(effectiveCapabilities(["workflow:read", "model:run", "*"], "pro")).toEqual(["workflow:read"]);
    expect(effectiveCapabilities(["workflow:read", "model:run"], "free")).toEqual([]);
  });
});

describe("capabilities granted only by name", () => {
  const names = Object.keys(BY_NAME);

  it("are in no preset, and no wildcard but * includes them", () => {
    for (const name of names) {
      const wildcard = `${name.split(":")[0]}:*`;
      expect([isCapability(name), covers([name], name), covers(["*"], name)]).toEqual([true, true, true]);
      expect([covers([wildcard], name), covers(CEILINGS.enterprise, name)]).toEqual([false, false]);
      for (const preset of PRESETS) expect(presetCapabilities(preset, "enterprise")).not.toContain(name);
    }
  });

  it("need business, and the role that a session needs", () => {
    for (const name of names) {
      expect(["free", "pro", "business", "enterprise"].filter((tier) => withinCeiling(name, tier as "free"))).toEqual([
        "business",
        "enterprise",
      ]);
      expect(lowestTierFor(name)).toBe("business");
    }
    expect(withinRole(names, "owner")).toEqual(names);
    expect(withinRole(names, "editor")).toEqual(names.filter((name) => !["keys:write", "budgets:write", "erasure:write"].includes(name)));
    for (const role of ["runner", "viewer"] as const) expect(withinRole(names, role)).toEqual(["members:read", "usage:read"]);
  });
});

describe("presets and sessions", () => {
  it("grants the documented capabilities of each preset", () => {
    expect(presetCapabilities("read-only", "pro")).toEqual(["workflow:read", "execution:read"]);
    expect(presetCapabilities("workflow-deploy", "pro")).toEqual(["workflow:run", "workflow:read"]);
    expect(presetCapabilities("webhook-receiver", "pro")).toEqual(["webhook:receive", "execution:read"]);
    expect(presetCapabilities("full-deploy", "pro")).toEqual(CEILINGS.pro);
    expect(presetCapabilities("full-deploy", "business")).toEqual(CEILINGS.business);
  });

  it("lets a Free session use the editor, and nothing more", () => {
    const editing = ["execution:cancel", "execution:read", "workflow:read", "workflow:run", "workflow:write"];
    expect(sessionCapabilities("free").sort()).toEqual([...editing, ...Object.keys(BY_NAME)].sort());
    expect(sessionCapabilities("business")).toContain("model:run");
    expect(sessionCapabilities("free", true)).toEqual(["*"]);
  });

  it("knows the vocabulary and nothing else", () => {
    for (const capability of ["*", "workflow:run", "workflow:my-slug:run", "workflow:*", "workflow:*:run", "model:a1:run", "agent:invoke"])
      expect(isCapability(capability)).toBe(true);
    for (const unknown of [
      "",
      "admin",
      "workflow",
      "workflow:delete",
      "workflow:My Slug:run",
      "workflow:a:write",
      "key:*",
      "model:a:b:run",
    ]) {
      expect(isCapability(unknown)).toBe(false);
    }
  });
});

it("keeps every tier's numbers in one table", () => {
  expect(TIERS.map((tier) => PLANS[tier].rateLimitPerMinute)).toEqual([60, 100, 1_000, null]);
  expect(TIERS.map((tier) => PLANS[tier].markupPermille)).toEqual([2_000, 1_500, 1_300, 1_150]);
  expect(TIERS.map((tier) => PLANS[tier].concurrency)).toEqual([1, 10, 50, 200]);
  expect(TIERS.map((tier) => PLANS[tier].maxWorkflows)).toEqual([1, null, null, null]);
});
