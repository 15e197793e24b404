import assert from "node:assert/strict";
import { test } from "node:test";
import { noticeLines, noticeProblems } from "../checks/notice.mjs";

test("production dependencies with an uncommon or undeclared licence must be listed", () => {
  const packages = {
    "": { license: "UNLICENSED" },
    "node_modules/@nodeloom/kernel": { link: true },
    "node_modules/common": { license: "(MIT OR GPL-3.0)" },
    "node_modules/copyleft": { license: "MIT AND MPL-2.0" },
    "node_modules/tool": { license: "MPL-2.0", dev: true },
    "node_modules/common/node_modules/@inner/silent": {},
    "node_modules/@fontsource-variable/inter": { license: "OFL-1.1", dev: true },
  };
  assert.deepEqual(noticeLines({ packages }), [
    "- @fontsource-variable/inter: OFL-1.1",
    "- @inner/silent: undeclared",
    "- copyleft: MIT AND MPL-2.0",
  ]);
});

test("a dependency missing from NOTICE is reported, and so is a removed one", () => {
  assert.deepEqual(
    noticeProblems("All of them:\n- one: MPL-2.0; see its source\n- two: OFL-1.1\n", ["- one: MPL-2.0", "- three: CC0-1.0"]),
    ["NOTICE lacks: - three: CC0-1.0", "NOTICE lists a package that isn't a dependency: - two: OFL-1.1"],
  );
});
