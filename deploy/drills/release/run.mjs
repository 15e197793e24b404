/**
 * `npm run drill release`: builds a release twice and compares the bytes. Then it installs the clients from the release in a new folder and
 * runs them against a local platform. It signs the chart with its own key, and verifies the signature with Helm. It affects only processes
 * that it started.
 */
import { execFileSync } from "node:child_process";
import { mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { helmProgram } from "../../helm/helm.mjs";
import { readLocal, ROOT, startPlatform } from "../support/platform.mjs";
import { runDrill } from "../support/run-drill.mjs";

export const DRILL = {
  sentence: "makes a release twice with the same bytes, and runs its clients from a fresh folder",
  minutes: 3,
  builds: true,
};

const SIGNER = "Nodeloom drill <drill@example.com>";
const TYPESCRIPT = `import { createClient } from "@nodeloom/client";
const client = createClient({ baseUrl: process.env.NODELOOM_BASE_URL, apiKey: process.env.NODELOOM_API_KEY });
const { result } = await client.run({ model: "sandbox-image" }, { prompt: "a loom" });
console.log(result.images[0].url);
`;
const PYTHON = `from nodeloom import Nodeloom
with Nodeloom() as client:
    print(client.run(model="sandbox-image", inputs={"prompt": "a loom"}).result["images"][0]["url"])
`;

await runDrill("release", async ({ say, check, atEnd }) => {
  const folder = await mkdtemp(join(tmpdir(), "nodeloom-release-"));
  atEnd(() => rm(folder, { recursive: true, force: true }));
  /** @param {string} program @param {string[]} args @param {Record<string, string>} [env] @param {string} [cwd] */
  const run = (program, args, env = {}, cwd = folder) =>
    execFileSync(program, args, {
      cwd,
      env: { ...process.env, GNUPGHOME: folder, ...env },
      encoding: "utf8",
      stdio: ["ignore", "pipe", "inherit"],
    });

  run("gpg", ["--batch", "--passphrase", "", "--quick-generate-key", SIGNER, "rsa3072", "sign", "never"]);
  atEnd(() => run("gpgconf", ["--kill", "all"]));
  const make = async () => {
    const output = run(process.execPath, [join(ROOT, "deploy", "local", "release.mjs"), "--key", SIGNER], {}, ROOT);
    const releaseFolder = output.split("\n").find((line) => line.startsWith(join(ROOT, ".nodeloom")));
    if (releaseFolder === undefined) throw new Error(`the release names no folder:\n${output}`);
    const sums = (await readFile(join(releaseFolder, "SHA256SUMS"), "utf8")).trim().split("\n");
    // A signature contains the time of signing, so it differs.
    return { folder: releaseFolder, sums: sums.filter((line) => !line.endsWith(".prov")) };
  };
  const [first, { folder: secondFolder, sums }] = [await make(), await make()];
  check(["two releases of one commit have the same bytes", first.sums.join() === sums.join(), `${sums.length} files`]);
  const names = await readdir(secondFolder);
  const fileNamed = (/** @type {RegExp} */ pattern) => {
    const name = names.find((one) => pattern.test(one));
    if (name === undefined) throw new Error(`the release has no file like ${pattern}: ${names.join(", ")}`);
    return join(secondFolder, name);
  };

  const keyring = join(folder, "keyring.gpg");
  run("gpg", ["--batch", "--export", "--output", keyring, SIGNER]);
  const verified = run(await helmProgram(say), ["verify", fileNamed(/^nodeloom-[\d.]+\.tgz$/), "--keyring", keyring]);
  check(["Helm verifies the chart", verified.includes("Chart Hash Verified"), verified.trim().split("\n").at(-1) ?? ""]);

  const platform = await startPlatform({});
  atEnd(platform.stop);
  const { baseUrl, accounts } = readLocal();
  const env = { NODELOOM_BASE_URL: baseUrl, NODELOOM_API_KEY: accounts.enterprise.apiKey };
  await writeFile(join(folder, "package.json"), '{ "type": "module" }\n');
  run("npm", ["install", "--no-audit", "--no-fund", "--silent", fileNamed(/^nodeloom-client-.*\.tgz$/)]);
  await writeFile(join(folder, "run.mjs"), TYPESCRIPT);
  const fromNpm = run(process.execPath, ["run.mjs"], env).trim();
  check(["the client from the npm tarball makes a picture", fromNpm.startsWith("http"), fromNpm]);
  const cli = run(join(folder, "node_modules", ".bin", "nodeloom"), ["whoami"], env).trim();
  check(["its command line knows its key", cli.length > 0, cli.split("\n")[0] ?? ""]);

  run("python3", ["-m", "venv", "python"]);
  const python = join(folder, "python", "bin", "python");
  run(python, ["-m", "pip", "install", "--quiet", "--disable-pip-version-check", fileNamed(/\.whl$/)]);
  await writeFile(join(folder, "run.py"), PYTHON);
  const fromWheel = run(python, ["run.py"], env).trim();
  check(["the client from the wheel makes a picture", fromWheel.startsWith("http"), fromWheel]);
});
