/**
 * `npm run release`: builds a release in .nodeloom/release/<version> and publishes nothing. The same commit gives identical bytes: times
 * are those of the commit, and nothing is random.
 *
 *   npm run release                 client for npm, client for PyPI, chart, bill of materials, notes, checksums
 *   npm run release -- --image      also the image as an OCI archive (as root on Linux with buildah, runc and mmdebstrap)
 *   npm run release -- --key ID     signs the chart's provenance file with that GnuPG key
 */
import { createHash } from "node:crypto";
import { cp, mkdir, mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { parse } from "yaml";
import { buildImage, requireTools } from "../drills/image/builder.mjs";
import { helmProgram } from "../helm/helm.mjs";
import { build } from "./build.mjs";
import { pythonEnvironment } from "./build/python.mjs";
import { ROOT, STATE_DIR } from "./paths.mjs";
import { createProgress } from "./run/progress.mjs";
import { runToSuccess } from "./run/to-end.mjs";

const HATCHLING = [
  "hatchling==1.33.0",
  "packaging==26.4",
  "pathspec==1.1.1",
  "pluggy==1.7.0",
  "tomlkit==0.15.2",
  "trove-classifiers==2026.9.21.13",
];
const CHART = join(ROOT, "deploy", "helm", "nodeloom");

/** @param {string} command @param {readonly string[]} args @param {{ cwd?: string, env?: Record<string, string> }} [options] */
const must = (command, args, { cwd = ROOT, env = {} } = {}) => runToSuccess(command, args, { cwd, env: { ...process.env, ...env } });

/** The version of all released parts. @throws if two files differ */
const versionOf = async () => {
  const read = (/** @type {string} */ file) => readFile(join(ROOT, file), "utf8");
  const chart = parse(await read("deploy/helm/nodeloom/Chart.yaml"));
  const versions = {
    "package.json": JSON.parse(await read("package.json")).version,
    "gateway/client/package.json": JSON.parse(await read("gateway/client/package.json")).version,
    "gateway/python/pyproject.toml": /^version = "(.+)"$/m.exec(await read("gateway/python/pyproject.toml"))?.[1],
    "Chart.yaml: version": chart.version,
    "Chart.yaml: appVersion": chart.appVersion,
  };
  if (new Set(Object.values(versions)).size > 1) throw new Error(`versions differ: ${JSON.stringify(versions)}`);
  return versions["package.json"];
};

/**
 * @typedef {object} Release
 * @property {string} version
 * @property {string} folder folder of the release
 * @property {string} epoch time of the commit, in seconds
 */

/** The TypeScript client with the command line, as npm publishes it. @param {Release} release */
const packClient = ({ folder }) =>
  must("npm", ["pack", "--ignore-scripts", "--silent", "--pack-destination", folder], { cwd: join(ROOT, "gateway", "client") });

/** The Python client, as a wheel and as sources. @param {Release} release */
const packPython = async ({ folder, epoch }) => {
  const python = await pythonEnvironment({ name: "release", requirements: HATCHLING.join("\n"), progress: console.error });
  const env = { SOURCE_DATE_EPOCH: epoch };
  await must(python, ["-m", "hatchling", "build", "--directory", folder], { cwd: join(ROOT, "gateway", "python"), env });
};

/** Packs the chart with the commit's time, because Helm would use the current one. @param {Release} release */
const packChart = async ({ version, folder, epoch }) => {
  const helm = await helmProgram(console.error);
  await must(helm, ["lint", "--strict", CHART]);
  const scratch = await mkdtemp(join(tmpdir(), "nodeloom-chart-"));
  try {
    await cp(CHART, join(scratch, "nodeloom"), { recursive: true });
    await rm(join(scratch, "nodeloom", "ci"), { recursive: true });
    const name = `nodeloom-${version}.tgz`;
    const owner = ["--owner=0", "--group=0", "--numeric-owner", "--mode=u=rwX,go=rX"];
    const archive = join(scratch, "chart.tar");
    await must("tar", ["--sort=name", `--mtime=@${epoch}`, ...owner, "-cf", archive, "-C", scratch, "nodeloom"]);
    await must("gzip", ["-n", "-9", archive]);
    await cp(`${archive}.gz`, join(folder, name));
    await must(helm, ["show", "chart", join(folder, name)]);
    return name;
  } finally {
    await rm(scratch, { recursive: true, force: true });
  }
};

/**
 * Helm's provenance file: the chart's description and the hash of its package, signed. @param {Release} release @param {string} name @param
 * {string} key
 */
const signChart = async ({ folder }, name, key) => {
  const text = `${await readFile(join(CHART, "Chart.yaml"), "utf8")}\n...\nfiles:\n  ${name}: sha256:${await sha256(join(folder, name))}\n`;
  const plain = join(folder, `${name}.txt`);
  await writeFile(plain, text);
  await must("gpg", [
    "--batch",
    "--yes",
    "--local-user",
    key,
    "--digest-algo",
    "SHA512",
    "--clearsign",
    "--output",
    join(folder, `${name}.prov`),
    plain,
  ]);
  await rm(plain);
};

/** Dependencies of the services as a CycloneDX document. @param {Release} release */
const writeBill = async ({ version, folder, epoch }) => {
  const output = await must("npm", ["sbom", "--package-lock-only", "--omit=dev", "--sbom-format=cyclonedx", "--silent"]);
  const { serialNumber: _, ...bill } = JSON.parse(output);
  bill.metadata.timestamp = new Date(Number(epoch) * 1_000).toISOString();
  await writeFile(join(folder, `nodeloom-${version}.cdx.json`), `${JSON.stringify(bill, null, 2)}\n`);
};

/** The version's part of the changelog, or the unreleased part. @param {Release} release */
const writeNotes = async ({ version, folder }) => {
  const parts = (await readFile(join(ROOT, "CHANGELOG.md"), "utf8")).split(/^## /m);
  const part = parts.find((one) => one.startsWith(`[${version}]`)) ?? parts.find((one) => one.startsWith("[Unreleased]"));
  if (part === undefined) throw new Error(`CHANGELOG.md has no part for ${version}`);
  await writeFile(join(folder, "notes.md"), `## ${part.trim()}\n`);
};

/** The image's layout as one archive. @param {Release} release */
const packImage = async ({ version, folder }) => {
  await requireTools();
  const { builder, image } = await buildImage(console.error);
  await builder.run("push", image, `oci-archive:${join(folder, `nodeloom-image-${version}.oci.tar`)}`);
};

/** @param {string} file */
const sha256 = async (file) =>
  createHash("sha256")
    .update(await readFile(file))
    .digest("hex");

/** @param {Release} release */
const writeSums = async ({ folder }) => {
  const names = (await readdir(folder)).filter((name) => name !== "SHA256SUMS").sort();
  const lines = await Promise.all(names.map(async (name) => `${await sha256(join(folder, name))}  ${name}\n`));
  await writeFile(join(folder, "SHA256SUMS"), lines.join(""));
  return lines.join("");
};

const { values } = parseArgs({ options: { image: { type: "boolean" }, key: { type: "string" } } });
const version = await versionOf();
const folder = join(STATE_DIR, "release", version);
const release = { version, folder, epoch: await must("git", ["log", "-1", "--format=%ct"]) };
await rm(folder, { recursive: true, force: true });
await mkdir(folder, { recursive: true });
await build(createProgress());
await packClient(release);
await packPython(release);
const chart = await packChart(release);
if (values.key !== undefined) await signChart(release, chart, values.key);
await writeBill(release);
await writeNotes(release);
if (values.image) await packImage(release);
process.stdout.write(`\n${folder}\n${await writeSums(release)}`);
