/** Uses V8's coverage to list the files of executions and providers that one synchronous run of an HTTP node enters. */
import { mkdtemp, readdir, readFile, rm } from "node:fs/promises";
import { SourceMap } from "node:module";
import { tmpdir } from "node:os";
import { join, relative, resolve } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { httpWorkflow } from "../graphs";
import { createApiClient } from "../http";
import { keyOf, launch, ROOT } from "../platform";
import { startTarget } from "../target";
import { withWorkflow } from "../workflow";
import type { CallOffsets } from "./probe";

/** Maximum number of files that a run can enter. */
const MOST_FILES = 50;
/** During the first runs, V8 and the caches are cold. */
const WARM_UP_RUNS = 5;
/** Threads write their coverage within this time. */
const TAKEN_MS = 100;
const WRITTEN_MS = 1_000;
const DEADLINE_MS = 300_000;
const BUNDLE = /workflow-bundle/;
const SOURCE_MAP = /sourceMappingURL=data:application\/json[^,]*;base64,([A-Za-z0-9+/=]+)/;
/** Excludes upkeep, which runs on its own schedule. */
const OURS = /^services\/(?:executions|providers)\/src\/(?!upkeep\/).*\.ts$/;

/** Source files of the functions in a bundle. */
const bundled = async ({ url, offsets }: CallOffsets): Promise<string[]> => {
  const code = await readFile(
    url.startsWith("file:") ? fileURLToPath(url) : join(ROOT, "services/executions/dist/workflow-bundle.js"),
    "utf8",
  );
  const map = new SourceMap(
    JSON.parse(Buffer.from(SOURCE_MAP.exec(code)![1]!, "base64").toString()) as ConstructorParameters<typeof SourceMap>[0],
  );
  const lines = [0];
  for (let at = code.indexOf("\n"); at >= 0; at = code.indexOf("\n", at + 1)) lines.push(at + 1);
  return offsets.flatMap((offset) => {
    const line = lines.findLastIndex((start) => start <= offset);
    const entry = map.findEntry(line, offset - lines[line]!);
    return "originalSource" in entry && entry.originalSource ? [entry.originalSource] : [];
  });
};

const sourceOf = (path: string): string => {
  const name = path.replace(/^webpack:\/\/[^/]*\//, "").replace(/^file:\/\//, "");
  return relative(ROOT, resolve(ROOT, name)).replace("/dist/", "/src/").replace(/\.js$/, ".ts");
};

/** Discards the coverage collected so far. */
const forget = (pid: number): Promise<void> => {
  process.kill(pid, "SIGUSR2");
  return delay(TAKEN_MS);
};

/** Files entered since the last call, in all threads of one process. */
const entered = async (folder: string, pid: number): Promise<string[]> => {
  await forget(pid);
  await delay(WRITTEN_MS);
  const names = (await readdir(folder)).filter((name) => name.startsWith(`${pid}-`));
  const called = await Promise.all(names.map(async (name) => JSON.parse(await readFile(join(folder, name), "utf8")) as CallOffsets[]));
  const paths = await Promise.all(called.flat().map(async (one) => (BUNDLE.test(one.url) ? bundled(one) : [one.url])));
  return [...new Set(paths.flat().map(sourceOf))].filter((path) => OURS.test(path)).sort();
};

const main = async (): Promise<void> => {
  const signal = AbortSignal.timeout(DEADLINE_MS);
  const folder = await mkdtemp(join(tmpdir(), "nodeloom-entered-"));
  const target = await startTarget();
  const environment = { EGRESS_ALLOW: target.host, ENTERED_DIR: folder, NODE_OPTIONS: `--require ${join(__dirname, "probe.js")}` };
  const platform = await launch(ROOT, signal, environment);
  const api = createApiClient(platform.local.baseUrl, keyOf(platform.local, "enterprise"), signal);
  try {
    const files = await withWorkflow(api, httpWorkflow(target.url), async (slug) => {
      const run = (): Promise<unknown> => api.expect(200, "POST", `/api/workflows/${slug}/run`, { inputs: {} });
      for (let count = 0; count < WARM_UP_RUNS; count += 1) await run();
      const pid = platform.local.pids.executions!;
      await forget(pid);
      await run();
      return entered(folder, pid);
    });
    process.stdout.write(`${files.join("\n")}\n${files.length} files, at most ${MOST_FILES}\n`);
    process.exitCode = files.length > MOST_FILES ? 1 : 0;
  } finally {
    api.close();
    await platform.stop();
    target.stop();
    await rm(folder, { recursive: true, force: true });
  }
};

void main();
