import { spawnSync } from "node:child_process";
import { readdirSync } from "node:fs";
import { join } from "node:path";

/*
 * The launcher is ESM that runs before dependencies are installed, which Jest can't load. Its tests run under Node's own runner, and each
 * result is reported as one of Jest's.
 */

/** Limit for a hanging test. */
const RUN_LIMIT_MS = 180_000;
const OUTCOME = /^(not )?ok \d+ - (.+)$/;

const files = readdirSync(__dirname).filter((name) => name.endsWith(".test.mjs"));

describe.each(files)("%s", (file) => {
  const args = ["--test-reporter=tap", join(__dirname, file)];
  const { stdout, stderr } = spawnSync(process.execPath, args, { encoding: "utf8", timeout: RUN_LIMIT_MS });
  const lines = stdout.split("\n");
  const outcomes = lines.flatMap((line, index) => {
    const match = OUTCOME.exec(line);
    if (!match) return [];
    const next = lines.slice(index + 1).findIndex((other) => OUTCOME.test(other) || other.startsWith("# Subtest"));
    return [
      { name: match[2] ?? "", ok: match[1] === undefined, details: lines.slice(index, next < 0 ? undefined : index + 1 + next).join("\n") },
    ];
  });

  it("runs", () => expect(outcomes.length > 0 ? "" : `${stdout}\n${stderr}`).toBe(""));

  for (const { name, ok, details } of outcomes) it(name, () => expect(ok ? "" : details).toBe(""));
});
