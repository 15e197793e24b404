import { execFile } from "node:child_process";
import { mkdtemp, readdir, readFile, rm, stat } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { clientOf } from "../e2e/support/client";
import { startPlatform, type Platform } from "../e2e/support/platform";

/** The installed Python client: its types, and its README's script on a running platform. */

const execute = promisify(execFile);
const PYTHON = process.env.PEER_PYTHON_CLIENT!;
const SOURCES = join(__dirname, "..", "..", "python");

let folder: string;
let platform: Platform;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "nodeloom-python-"));
  platform = await startPlatform();
});
afterAll(async () => {
  await platform.stop();
  await rm(folder, { recursive: true, force: true });
});

const python = (args: string[], cwd: string, env: NodeJS.ProcessEnv = {}) =>
  execute(PYTHON, args, { cwd, env: { ...process.env, ...env } });

it("has strict types", async () => {
  const { stdout } = await python(["-m", "mypy", "--cache-dir", join(folder, "mypy")], SOURCES);
  expect(stdout).toContain("Success");
});

it("is built as a wheel and a source package; the wheel runs the README's script on a real platform", async () => {
  await python(["-m", "hatchling", "build", "-d", join(folder, "dist")], SOURCES);
  const built = await readdir(join(folder, "dist"));
  expect(built.sort()).toEqual(["nodeloom-1.0.0-py3-none-any.whl", "nodeloom-1.0.0.tar.gz"]);
  const installed = join(folder, "installed");
  await python(["-m", "zipfile", "-e", join(folder, "dist", built[0]!), installed], folder);
  expect(await readdir(join(installed, "nodeloom"))).toContain("py.typed");
  const readme = await readFile(join(SOURCES, "README.md"), "utf8");
  const script = /```python\n(.*?)```/s.exec(readme)![1]!;
  const user = await clientOf(platform).account({ tier: "business" });
  const env = { PYTHONPATH: installed, NODELOOM_API_KEY: user.key, NODELOOM_BASE_URL: platform.baseUrl };
  const { stdout } = await python(["-c", script], folder, env);
  expect(stdout).toMatch(/^6\.5 credits\n/);
  expect(stdout).toMatch(/settled \{/);
  expect((await stat(join(folder, "lighthouse.mp4"))).size).toBeGreaterThan(1_000);
});
