import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, it } from "node:test";
import { isAtLeast, requireSupportedMachine, supportedNode } from "../run/machine.mjs";
import { ROOT } from "../paths.mjs";

describe("the oldest Node.js", () => {
  it("equals the version in package.json and the README", () => {
    const read = (/** @type {string} */ name) => readFileSync(join(ROOT, name), "utf8");
    assert.equal(JSON.parse(read("package.json")).engines.node, `>=${supportedNode()}`);
    assert.match(read("README.md"), new RegExp(`Node\\.js ${supportedNode()} or newer`));
  });

  for (const [version, oldest, is] of /** @type {[string, string, boolean][]} */ ([
    ["20.18.0", "20.18", true],
    ["20.17.9", "20.18", false],
    ["20.9.0", "20.18", false],
    ["20.100.0", "20.18", true],
    ["22.0.0", "20.18", true],
    ["18.20.4", "20.18", false],
    ["20.18.0", "20.18.1", false],
    ["21.0.0-nightly2023", "20.18", true],
  ])) {
    it(`${version} ${is ? "is" : "is not"} at least ${oldest}`, () => assert.equal(isAtLeast(version, oldest), is));
  }

  it("is shown to users of an older version", () => {
    assert.throws(() => requireSupportedMachine("linux", "20.17.0"), /Node\.js 20\.18 or newer is needed; this is 20\.17\.0/);
    assert.throws(() => requireSupportedMachine("win32", "22.0.0"), /WSL/);
    requireSupportedMachine("darwin", "20.18.0");
  });
});
