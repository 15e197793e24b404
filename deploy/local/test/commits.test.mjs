import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { describe, it } from "node:test";
import { subjectProblem } from "../checks/commits.mjs";

describe("the subject of a commit", () => {
  for (const subject of [
    "fix(billing): release the hold when planning fails",
    "feat(client)!: drop the option `retries`",
    "docs: say how to start",
    "test(gateway/mcp): name a case",
    "Merge branch 'main' into fix",
    'Revert "fix(billing): release the hold"',
  ])
    it(`can be ${JSON.stringify(subject)}`, () => assert.equal(subjectProblem(subject), undefined));

  for (const [subject, problem] of [
    ["Release the hold", "type(scope): subject"],
    ["fixes(billing): release the hold", "type(scope): subject"],
    ["fix(Billing): release the hold", "type(scope): subject"],
    ["fix(billing):", "type(scope): subject"],
    [`fix(billing): ${"x".repeat(59)}`, "at most 72 characters, and has 73"],
    ["fix(billing): release the hold.", "full stop"],
  ])
    it(`can't be ${JSON.stringify(subject)}`, () =>
      assert.match(subjectProblem(subject ?? "") ?? "", new RegExp(problem?.replace(/[()]/g, "\\$&") ?? "")));

  it("is checked for every commit of a range", () => {
    const check = (/** @type {string} */ range) =>
      execFileSync(process.execPath, ["deploy/local/checks/commits.mjs", range], { stdio: "pipe" });
    assert.equal(check("HEAD..HEAD").length, 0);
    assert.throws(() => check("no-such-commit..HEAD"));
  });
});
