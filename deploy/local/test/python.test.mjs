import assert from "node:assert/strict";
import { chmod, mkdir, mkdtemp, readdir, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { pythonEnvironment } from "../build/python.mjs";
import { runCommand } from "../run/child.mjs";

/** Packages come from a local folder, so nothing is downloaded. */
const WHEEL = `
import sys, zipfile
folder, version = sys.argv[1:]
info = f"nodeloom_example-{version}.dist-info"
with zipfile.ZipFile(f"{folder}/nodeloom_example-{version}-py3-none-any.whl", "w") as wheel:
    wheel.writestr("nodeloom_example.py", f"print('example', {version!r})")
    wheel.writestr(f"{info}/METADATA", f"Metadata-Version: 2.1\\nName: nodeloom-example\\nVersion: {version}\\n")
    wheel.writestr(f"{info}/WHEEL", "Wheel-Version: 1.0\\nGenerator: test\\nRoot-Is-Purelib: true\\nTag: py3-none-any\\n")
    wheel.writestr(f"{info}/RECORD", "".join(f"{name},,\\n" for name in wheel.namelist()))
`;

/** @type {string} */
let folder;
/** @type {NodeJS.ProcessEnv} */
let env;
before(async () => {
  folder = await mkdtemp(join(tmpdir(), "nodeloom-python-"));
  const wheels = join(folder, "wheels");
  await mkdir(wheels);
  for (const version of ["1.0", "2.0"]) await runCommand("python3", ["-c", WHEEL, wheels, version]);
  env = { ...process.env, PIP_NO_INDEX: "1", PIP_FIND_LINKS: wheels, PIP_CONFIG_FILE: "/dev/null" };
});
after(() => rm(folder, { recursive: true, force: true }));

/** @param {string} python */
const say = async (python) => (await runCommand(python, ["-m", "nodeloom_example"])).tail;

test("an environment has the pinned packages, is created once, and is replaced when the pins change", async () => {
  const cacheDir = join(folder, "once");
  /** @type {string[]} */
  const lines = [];
  const options = { name: "example", cacheDir, env, progress: (/** @type {string} */ line) => void lines.push(line) };
  const first = await pythonEnvironment({ ...options, requirements: "# what it needs\nnodeloom-example==1.0\n" });
  const again = await pythonEnvironment({ ...options, requirements: "nodeloom-example==1.0" });
  const other = await pythonEnvironment({ ...options, requirements: "nodeloom-example==2.0" });
  assert.deepEqual([again, lines.length], [first, 2]);
  assert.deepEqual([await say(first), await say(other)], ["example 1.0", "example 2.0"]);
});

test("two processes at once get the same complete environment", async () => {
  const cacheDir = join(folder, "two");
  const options = { name: "example", cacheDir, env, requirements: "nodeloom-example==1.0" };
  const [first, second] = await Promise.all([pythonEnvironment(options), pythonEnvironment(options)]);
  assert.equal(first, second);
  assert.equal(await say(first), "example 1.0");
  assert.equal((await readdir(join(cacheDir, "python"))).length, 1);
});

test("a failed installation leaves nothing and reports the reason", async () => {
  const cacheDir = join(folder, "failed");
  const options = { name: "example", cacheDir, env };
  await assert.rejects(pythonEnvironment({ ...options, requirements: "nodeloom-example==3.0" }), /pip install.*nodeloom-example==3\.0/s);
  assert.deepEqual(await readdir(join(cacheDir, "python")), []);
});

test("unpinned requirements are rejected", async () => {
  const options = { name: "example", cacheDir: folder, env };
  for (const requirements of ["nodeloom-example", "nodeloom-example>=1.0", "-r other.txt"]) {
    await assert.rejects(pythonEnvironment({ ...options, requirements }), /not pinned/);
  }
});

test("a machine without Python, venv or pip gets an error that names the missing one", async () => {
  const options = { name: "example", cacheDir: join(folder, "bare"), requirements: "nodeloom-example==1.0" };
  await assert.rejects(pythonEnvironment({ ...options, env: { PATH: "/nonexistent" } }), /python3 is not on PATH.*python3-venv/);
  const python = (await runCommand("python3", ["-c", "import sys; print(sys.executable)"])).tail;
  for (const [missing, refusal] of /** @type {const} */ ([
    ["import sys, venv", /no venv module \(Debian: python3-venv\)/],
    ["-m pip", /no pip \(Debian: python3-pip\)/],
  ])) {
    const path = await mkdtemp(join(folder, "path-"));
    const script = join(path, "python3");
    await writeFile(script, `#!/bin/sh\ncase "$*" in *"${missing}"*) exit 1;; esac\nexec "${python}" "$@"\n`);
    await chmod(script, 0o755);
    await assert.rejects(pythonEnvironment({ ...options, env: { ...process.env, PATH: path } }), refusal);
  }
});
