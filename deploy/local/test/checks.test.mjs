import assert from "node:assert/strict";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { CHECKS, runChecks } from "../checks/checks.mjs";
import { ROOT } from "../paths.mjs";
import { runToEnd } from "../run/to-end.mjs";

/** @param {string} name @param {string} script @returns {import("../checks/checks.mjs").Check} */
const checkOf = (name, script) => ({ name, command: process.execPath, args: ["-e", script] });

test("a check that fails is counted, named and printed; the others continue without output", async () => {
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

test("the check of types reports a type error, and nothing for correct code", async () => {
  const check = CHECKS.find(({ name }) => name === "lint and types");
  assert.ok(check);
  const folder = await mkdtemp(join(tmpdir(), "nodeloom-types-"));
  const run = async (/** @type {string} */ type) => {
    const file = join(folder, "one.ts");
    await writeFile(file, `const list: number[] = [];\nexport const one: ${type} = list[0];\n`);
    return runToEnd(check.command, [...check.args, file], { cwd: ROOT, env: { ...process.env, ...check.env } });
  };
  try {
    await writeFile(
      join(folder, "tsconfig.json"),
      JSON.stringify({ compilerOptions: { strict: true, noUncheckedIndexedAccess: true, types: [] } }),
    );
    const wrong = await run("number");
    assert.notEqual(wrong.code, 0);
    assert.match(wrong.output, /TS2322/);
    assert.equal((await run("number | undefined")).code, 0);
  } finally {
    await rm(folder, { recursive: true });
  }
});
