import assert from "node:assert/strict";
import { chmod, mkdtemp, readdir, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { goTool } from "../build/go.mjs";
import { runCommand } from "../run/child.mjs";

const TOOL = "example.org/module/cmd/example@v1.2.3";
/** Simulates the compiler: "builds" a program that prints its sources. */
const GO =
  '#!/bin/sh\n[ "$2" = "$FAILS" ] && { echo "no such module"; exit 1; }\nprintf "#!/bin/sh\\necho $2" > "$GOBIN/example"\nchmod +x "$GOBIN/example"\n';

/** @type {string} */
let folder;
/** @type {NodeJS.ProcessEnv} */
let env;
before(async () => {
  folder = await mkdtemp(join(tmpdir(), "nodeloom-go-"));
  await writeFile(join(folder, "go"), GO);
  await chmod(join(folder, "go"), 0o755);
  env = { ...process.env, PATH: `${folder}:${process.env.PATH}` };
});
after(() => rm(folder, { recursive: true, force: true }));

test("a program is built once per version", async () => {
  /** @type {string[]} */
  const lines = [];
  const options = { name: "example", cacheDir: join(folder, "once"), env, progress: (/** @type {string} */ line) => void lines.push(line) };
  const first = await goTool({ ...options, tool: TOOL });
  assert.equal(await goTool({ ...options, tool: TOOL }), first);
  const other = await goTool({ ...options, tool: TOOL.replace("1.2.3", "1.3.0") });
  assert.equal(lines.length, 2);
  assert.equal((await runCommand(first, [])).tail, TOOL);
  assert.notEqual(other, first);
});

test("a failed build leaves nothing and reports the reason", async () => {
  const cacheDir = join(folder, "failed");
  await assert.rejects(
    goTool({ name: "example", tool: TOOL, cacheDir, env: { ...env, FAILS: TOOL } }),
    /go install .* failed: no such module/,
  );
  assert.deepEqual(await readdir(join(cacheDir, "go")), []);
});

test("unpinned modules are rejected, and so is a machine without Go", async () => {
  for (const tool of ["example.org/module", "example.org/module@latest", "example.org/module@v1"]) {
    await assert.rejects(goTool({ name: "example", tool, cacheDir: folder, env }), /not pinned/);
  }
  await assert.rejects(
    goTool({ name: "example", tool: TOOL, cacheDir: join(folder, "none"), env: { PATH: "/nonexistent" } }),
    /go is not on PATH/,
  );
});
