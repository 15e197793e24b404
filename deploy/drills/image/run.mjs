/**
 * `npm run drill image`: builds and runs the Dockerfile's image without Docker. Every process of the platform runs from it as uid 1000 on a
 * read-only root, and the demo run must succeed. Prints the image's size and writes its contents to .nodeloom/image/sbom.cdx.json. Requires
 * root on Linux with buildah, runc and mmdebstrap. `--built` uses the last image.
 */
import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { NAMES } from "../cluster/replica.mjs";
import { startCluster } from "../cluster/cluster.mjs";
import { STATE_DIR } from "../../local/paths.mjs";
import { V8_FLAGS } from "../../local/run/node-process.mjs";
import { createProgress } from "../../local/run/progress.mjs";
import { runToEnd } from "../../local/run/to-end.mjs";
import { exists } from "../../local/servers/programs/cache.mjs";
import { createClient } from "../../local/seed/client.mjs";
import { runDemo, seedWorkflows } from "../../local/seed/workflows.mjs";
import { buildImage, lastImage, requireTools } from "./builder.mjs";
import { createContainers, UID } from "./containers.mjs";

export const DRILL = { sentence: "builds the image without Docker, and runs the platform from it", minutes: 15 };

const MEGABYTE = 1024 ** 2;

/** @typedef {Awaited<ReturnType<typeof buildImage>>} Built */

/** Total bytes of a folder. @param {string} folder */
const sizeOf = async (folder) => {
  const { output } = await runToEnd("du", ["-sb", folder], { cwd: folder });
  return Number.parseInt(output, 10);
};

/**
 * Writes a list of npm's and Debian's packages in the image. @param {Built["builder"]} builder @param {string} container @param {string}
 * rootfs
 */
const writeBill = async (builder, container, rootfs) => {
  const inside = (/** @type {string[]} */ ...command) => builder.run("run", container, "--", ...command);
  // Read from the lock file, because npm rejects the installed tree without development packages. Packages that aren't installed are
  // omitted.
  const locked = JSON.parse(await inside("npm", "sbom", "--package-lock-only", "--omit=dev", "--sbom-format=cyclonedx", "--logs-max=0"));
  const installed = await Promise.all(
    locked.components.map((/** @type {any} */ component) => exists(join(rootfs, "app", placeOf(component)))),
  );
  const packages = locked.components.filter((/** @type {any} */ _component, /** @type {number} */ index) => installed[index]);
  const debian = (await inside("dpkg-query", "-W", "-f", "${Package} ${Version}\\n")).split("\n").filter(Boolean);
  const system = debian.map((line) => {
    const [name, version] = line.split(" ");
    return { type: "library", name, version, purl: `pkg:deb/debian/${name}@${version}` };
  });
  const folder = join(STATE_DIR, "image");
  await mkdir(folder, { recursive: true });
  const file = join(folder, "sbom.cdx.json");
  await writeFile(file, JSON.stringify({ ...locked, components: [...packages, ...system] }, null, 2));
  return `${packages.length} packages of npm, ${system.length} of Debian: ${file}`;
};

/** Folder of a package. @param {{ properties?: { name: string, value: string }[] }} component */
const placeOf = ({ properties = [] }) => properties.find(({ name }) => name === "cdx:npm:package:path")?.value ?? "";

/**
 * Runs the whole platform from the image, including its demo run.
 * @param {string} rootfs @param {import("../../local/run/progress.mjs").Progress} progress
 */
const tryPlatform = async (rootfs, progress) => {
  const containers = await createContainers({ rootfs, files: [NAMES] });
  /** @type {Awaited<ReturnType<typeof startCluster>> | undefined} */
  let cluster;
  try {
    await progress.step("platform", async () => {
      cluster = await startCluster({
        replicas: 1,
        owner: UID,
        command: ({ main, env, folder }) =>
          containers.command({ args: ["node", ...V8_FLAGS, "--require", NAMES, main], env, folders: [folder] }),
      });
      const inspected = await containers.inspect();
      const wrong = inspected.filter(({ uid, hasCapabilities, isReadOnly }) => uid !== UID || hasCapabilities || !isReadOnly);
      if (wrong.length > 0 || inspected.length !== cluster.replicas.length)
        throw new Error(`not as it should run: ${JSON.stringify(inspected)}`);
      return `${inspected.length} processes as uid ${UID}, without capabilities, on a read-only root`;
    });
    await progress.step("demo run", async () => {
      const { baseUrl, accounts } = /** @type {Awaited<ReturnType<typeof startCluster>>} */ (cluster);
      const [client, key] = [createClient(baseUrl), accounts.pro.apiKey ?? ""];
      await seedWorkflows({ client, key });
      const run = await runDemo({ client, key });
      return `${run.result.images[0]?.url} (${run.cost} credits, ${run.ms} ms)`;
    });
  } finally {
    await cluster?.stop();
    await containers.remove();
  }
};

const progress = createProgress();
try {
  await requireTools();
  /** @type {Built | undefined} */
  let built;
  await progress.step("image", async () => {
    built = process.argv.includes("--built") ? await lastImage() : await buildImage(progress.line);
    return built.image;
  });
  const { builder, image } = /** @type {Built} */ (/** @type {unknown} */ (built));
  const container = await builder.run("from", image);
  try {
    const rootfs = await builder.run("mount", container);
    await progress.step(
      "size",
      async () =>
        `${Math.round((await sizeOf(rootfs)) / MEGABYTE)} MB, of it ${Math.round((await sizeOf(join(rootfs, "app"))) / MEGABYTE)} MB in /app`,
    );
    await progress.step("contents", () => writeBill(builder, container, rootfs));
    await tryPlatform(rootfs, progress);
  } finally {
    await builder.run("umount", container);
    await builder.run("rm", container);
  }
} catch (error) {
  progress.fail(error);
  process.exitCode = 1;
}
