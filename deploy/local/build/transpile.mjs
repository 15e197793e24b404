import { mkdir, readFile, rm, stat, writeFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { dirname, join, relative } from "node:path";
import { filesBelow, readJson } from "../run/files.mjs";
import { ROOT } from "../paths.mjs";
import { readStamps, writeStamp } from "./stamps.mjs";
import { bundledWorkspaces, listWorkspaces } from "./workspaces.mjs";

const OPTIONS_FILE = join(ROOT, ".swcrc");
const STEP = "transpile";
const CONCURRENCY = 16;

/** @param {string} path */
const isSource = (path) => /\.m?tsx?$/.test(path) && !/\.d\.m?ts$/.test(path);

/** A `.mts` file becomes an ES module, for threads that use packages without CommonJS. @param {string} source */
const outputOf = (source) => source.replace(/\.(m?)tsx?$/, ".$1js");

/** @param {string} path */
const modifiedAt = (path) =>
  stat(path).then(
    ({ mtimeMs }) => mtimeMs,
    () => undefined,
  );

/**
 * Sources of a workspace with missing or older output, and outputs without a source.
 * @param {string} workspace @param {boolean} everything
 */
const findWork = async (workspace, everything) => {
  const [from, to] = [join(ROOT, workspace, "src"), join(ROOT, workspace, "dist")];
  const sources = await filesBelow(from, isSource);
  const outputs = new Map(sources.map((source) => [outputOf(join(to, relative(from, source))), source]));
  const work = [];
  for (const [output, source] of outputs) {
    const [outputAt, changed] = [await modifiedAt(output), await modifiedAt(source)];
    if (everything || outputAt === undefined || (changed ?? 0) > outputAt) work.push({ workspace, source, output });
  }
  // Output without a map comes from other steps, such as the workflow bundle and type declarations.
  const maps = await filesBelow(to, (path) => /\.m?js\.map$/.test(path) && !path.includes("node_modules"));
  const stale = maps.filter((map) => !outputs.has(map.slice(0, -".map".length))).flatMap((map) => [map, map.slice(0, -".map".length)]);
  return { work, stale };
};

/** @typedef {{ workspace: string, source: string, output: string }} Job */

/** @param {readonly Job[]} jobs */
const transpileAll = async (jobs) => {
  /** @type {{ transform(source: string, options: object): Promise<{ code: string, map?: string }> }} */
  const swc = createRequire(join(ROOT, "package.json"))("@swc/core");
  const options = await readJson(OPTIONS_FILE);
  delete options.$schema;
  const queue = [...jobs];
  const worker = async () => {
    for (let job = queue.pop(); job !== undefined; job = queue.pop()) {
      const { source, output } = job;
      const sourceFileName = relative(dirname(output), source);
      const text = await readFile(source, "utf8");
      const format = source.endsWith(".mts") ? { module: { type: "es6" } } : {};
      const { code, map } = await swc.transform(text, { ...options, ...format, swcrc: false, filename: source, sourceFileName });
      await mkdir(dirname(output), { recursive: true });
      if (map !== undefined) await writeFile(`${output}.map`, map);
      await writeFile(output, map === undefined ? code : `${code}//# sourceMappingURL=${relative(dirname(output), output)}.map\n`);
    }
  };
  await Promise.all(Array.from({ length: CONCURRENCY }, worker));
};

/**
 * Transpiles changed TypeScript in every workspace.
 * @returns {Promise<{ files: number, workspaces: Set<string> }>} number of written files, and their workspaces
 */
export const transpile = async () => {
  const swcVersion = (await readJson(join(ROOT, "node_modules", "@swc", "core", "package.json")))?.version;
  const settings = `${swcVersion} ${JSON.stringify(await readJson(OPTIONS_FILE))}`;
  const everything = (await readStamps())[STEP] !== settings;
  const bundled = await bundledWorkspaces();
  const works = await Promise.all(
    (await listWorkspaces()).filter((workspace) => !bundled.has(workspace)).map((workspace) => findWork(workspace, everything)),
  );
  const jobs = works.flatMap(({ work }) => work);
  if (jobs.length > 0) await transpileAll(jobs);
  await Promise.all(works.flatMap(({ stale }) => stale).map((path) => rm(path, { force: true })));
  if (everything) await writeStamp(STEP, settings);
  return { files: jobs.length, workspaces: new Set(jobs.map(({ workspace }) => workspace)) };
};
