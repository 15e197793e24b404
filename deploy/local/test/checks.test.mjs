import assert from "node:assert/strict";
import { test } from "node:test";
import { runChecks } from "../checks/checks.mjs";

/** @param {string} name @param {string} script @returns {import("../checks/checks.mjs").Check} */
const checkOf = (name, script) => ({ name, command: process.execPath, args: ["-e", script] });

test("a check that fails is counted, named and heard; the others go on, and are quiet", async () => {
  /** @type {string[]} */
  const lines = [];
  const progress = {
    note: (/** @type {string[]} */ ...words) => void lines.push(words.join(" ")),
    line: (/** @type {string} */ text) => void lines.push(text),
  };
  const counts = await runChecks(
    [
      checkOf("first", "console.log('all is well')"),
      checkOf("second", "console.log('here'); console.error('and there'); process.exitCode = 3"),
      { name: "third", command: "/no/such/program", args: [] },
      checkOf("fourth", ""),
    ],
    progress,
  );
  assert.deepEqual(counts, { passed: 2, failed: 2 });
  assert.deepEqual(
    lines.filter((line) => /^(passed|FAILED) /.test(line)),
    ["passed first", "FAILED second", "FAILED third", "passed fourth"],
  );
  assert.match(lines[2] ?? "", /here\n/);
  assert.match(lines[2] ?? "", /and there\n/);
  assert.match(lines[4] ?? "", /ENOENT/);
  assert.equal(lines.length, 6);
});
