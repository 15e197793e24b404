import { execFile } from "node:child_process";
import { mkdtemp, readdir, readFile, rm, stat } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { clientOf } from "../../../test-support/client";
import { startPlatform, type Platform } from "../../../test-support/platform";
import { startRecorder, type Recorder } from "../../../test-support/recorder";

/** The installed Python client on a running platform: its types, its README's script, and every method. */

const execute = promisify(execFile);
const PYTHON = process.env.PEER_PYTHON_CLIENT!;
const SOURCES = join(__dirname, "..", "..", "python");

let folder: string;
let platform: Platform;
let receiver: Recorder;
let host: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "nodeloom-python-"));
  receiver = await startRecorder();
  host = receiver.address;
  platform = await startPlatform({ allow: [host] });
});
afterAll(async () => {
  await platform.stop();
  await receiver.close();
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
  expect(built.sort()).toEqual(["nodeloom-1.1.0-py3-none-any.whl", "nodeloom-1.1.0.tar.gz"]);
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

it("has no method that the gateway refuses, or that returns less than its type promises", async () => {
  const capabilities = ["workflow:*", "execution:*", "model:run", "agent:invoke", "webhook:receive"];
  const keyCapabilities = ["execution:delete", "erasure:write", "webhooks:write", "schedules:write", "usage:read"];
  const { key } = await clientOf(platform).account({ tier: "business", capabilities: [...capabilities, ...keyCapabilities] });
  const env = { NODELOOM_API_KEY: key, NODELOOM_BASE_URL: platform.baseUrl, WEBHOOK_URL: `http://${host}/`, FOLDER: folder };
  const script = join(__dirname, "python-client", "methods.py");
  const { stdout } = await python([script], folder, { ...env, PYTHONPATH: join(SOURCES, "src") });
  expect(stdout).toMatch(/^\d+ methods\n$/);
});
