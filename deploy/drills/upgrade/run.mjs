/**
 * `npm run drill -- upgrade [--from <commit>]`: builds the gateway and the executions service of a release (by default the newest in
 * CHANGELOG.md) from git in a separate folder. They run beside a whole platform of this code, with one database, one Temporal and one
 * Redis. Runs start on both; then the old release is stopped, as in a rolling upgrade, while its runs continue. Every run must complete
 * once and be charged once. The drill affects only processes that it started.
 */
import { execFileSync, spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { freePort } from "../../local/servers/ports.cjs";
import { createApi } from "../support/api.mjs";
import { creditChecks, milliOf, read, untilSettled, usageRows } from "../support/invariants.mjs";
import { pause, readLocal, ROOT } from "../support/platform.mjs";
import { startReplica } from "../support/replicas.mjs";
import { runDrill } from "../support/run-drill.mjs";
import { setStage } from "../support/stage.mjs";

export const DRILL = { sentence: "runs the newest release beside this code, then stops it: no run may be lost", minutes: 6, builds: true };

const SECONDS = Number(process.env.UPGRADE_SECONDS ?? 30);
/** Pause between two starts on one gateway. */
const GAP_MS = 500;
const SETTLE_MS = 300_000;
/** Time for the old release to answer its requests. */
const ANSWER_MS = 20_000;
const SHOWN = 20;

const git = (/** @type {string[]} */ ...args) =>
  execFileSync("git", args, { cwd: ROOT, encoding: "utf8", stdio: ["ignore", "pipe", "ignore"] });

/** Commit of the newest release in the changelog that has a tag. A version that is about to be released has none. */
const newestRelease = () => {
  const versions = [...readFileSync(join(ROOT, "CHANGELOG.md"), "utf8").matchAll(/^## \[(\d+\.\d+\.\d+)\]/gm)].map(
    ([, version]) => version,
  );
  const tags = new Set(git("tag", "--list").split("\n"));
  const newest = versions.find((version) => tags.has(`v${version}`));
  if (newest !== undefined) return git("rev-parse", "--verify", `v${newest}^{commit}`).trim();
  process.stderr.write("no release in CHANGELOG.md has a tag here: name a commit with --from\n");
  return process.exit(1);
};

/** Checks a commit out into a separate folder and builds it. @returns {Promise<string>} its folder */
const release = async (/** @type {string} */ commit) => {
  const { checkOut } = createRequire(import.meta.url)(join(ROOT, "deploy/bench/dist/costs/checkout.js"));
  const { root } = await checkOut(commit);
  const { status, stdout, stderr } = spawnSync(process.execPath, [join(root, "deploy/local/build.mjs")], { cwd: root, encoding: "utf8" });
  if (status !== 0) throw new Error(`${commit} could not be built:\n${stdout}${stderr}`);
  return root;
};

const sandbox = (/** @type {number} */ latencyMs) => ({ latencyMs });
/** Kinds of runs. Each response shows if the run was accepted. The long runs continue after the release that started them stops. */
const RUNS = [
  { path: "sandbox-video/run?async=true", inputs: { prompt: "a loom", seconds: 1, sandbox: sandbox(2_000) } },
  { path: "sandbox-image/run?async=true", inputs: { prompt: "a loom", sandbox: sandbox(25_000) } },
  { path: "sandbox-chat/run", inputs: { prompt: "a loom", maxTokens: 20, sandbox: sandbox(300) } },
  { path: "sandbox-video/run?async=true", inputs: { prompt: "a loom", seconds: 1, sandbox: sandbox(90_000) } },
  { path: "sandbox-speech/run", inputs: { prompt: "a loom" } },
];

/** Starts runs until stopped. @param {string} gateway @param {string} key */
const createLoad = (gateway, key) => {
  const api = createApi(() => gateway);
  /** @type {{ executionId: string, status: number, body: any }[]} */
  const answers = [];
  let isWanted = true;
  /** @type {Promise<void>[]} */
  const pending = [];
  const starting = (async () => {
    for (let index = 0; isWanted; index += 1) {
      const { path, inputs } = /** @type {typeof RUNS[number]} */ (RUNS[index % RUNS.length]);
      pending.push(
        api.call("POST", `/api/models/${path}`, { key, body: { inputs } }).then(({ status, headers, body }) => {
          answers.push({ executionId: headers.get("x-execution-id") ?? "", status, body });
        }),
      );
      await pause(GAP_MS);
    }
  })();
  return {
    answers,
    stop: async () => {
      isWanted = false;
      await starting;
    },
    answered: () => Promise.all(pending),
  };
};

const { values: flags } = parseArgs({ options: { from: { type: "string" } } });
const commit = flags.from ?? newestRelease();

/**
 * Compares the answers of one side with its runs and their rows of usage.
 * @param {ReturnType<typeof createApi>} api @param {string} key @param {ReturnType<typeof createLoad>["answers"]} answers
 * @param {readonly any[]} usage
 */
const compare = async (api, key, answers, usage) => {
  /** @type {string[]} */
  const problems = [];
  let completed = 0;
  for (const { executionId, status, body } of answers) {
    if (status !== 200 && status !== 202) {
      problems.push(`${status} ${JSON.stringify(body)}`);
      continue;
    }
    const execution = await read(api, `/api/executions/${executionId}`, { key });
    if (execution.status === "completed") completed += 1;
    else problems.push(`${executionId} is ${execution.status}: ${JSON.stringify(execution.error)}`);
    const rows = usage.filter((row) => (row.executionId || row.requestId) === executionId);
    if (rows.length !== 1) problems.push(`${executionId} has ${rows.length} usage rows`);
    else if (milliOf(rows) !== milliOf([execution]))
      problems.push(`${executionId} was charged ${rows[0].creditsCost} and says ${execution.creditsCost}`);
  }
  return { completed, problems };
};

await runDrill("upgrade", async ({ say, check, atEnd }) => {
  say(`building ${commit}`);
  const root = await release(commit);
  const { api, adminKey, user } = await setStage({ atEnd });
  const [executionsListen, gatewayListen] = [`127.0.0.1:${await freePort()}`, `127.0.0.1:${await freePort()}`];
  const executionsEnv = { EXECUTIONS_LISTEN: executionsListen };
  const executions = await startReplica({ service: "executions", folder: "services/executions", root, env: executionsEnv });
  atEnd(executions.stop);
  const gatewayEnv = { GATEWAY_LISTEN: gatewayListen, EXECUTIONS_ADDRESS: executionsListen };
  const gateway = await startReplica({ service: "gateway", folder: "gateway", root, env: gatewayEnv });
  atEnd(gateway.stop);
  say(`runs are started on ${commit} and on this code for ${SECONDS} s`);
  const [before, now] = [createLoad(`http://${gatewayListen}`, user.key), createLoad(readLocal().baseUrl, user.key)];
  await pause(SECONDS * 1_000);
  await before.stop();
  await Promise.race([before.answered(), pause(ANSWER_MS)]);
  const open = (await api.call("GET", "/api/executions?limit=100&status=processing", { key: user.key })).body.rows;
  const ofBefore = new Set(before.answers.map(({ executionId }) => executionId));
  const openAtStop = open.filter((/** @type {{ executionId: string }} */ { executionId }) => ofBefore.has(executionId)).length;
  say(`stopping ${commit}; ${openAtStop} runs of its own are under way, ${open.length} in all`);
  await gateway.stop();
  await executions.stop();
  say("the release before is gone");
  await pause(SECONDS * 250);
  await now.stop();
  await now.answered();
  await untilSettled(api, user, SETTLE_MS);
  say("no run is under way any more");

  const sides = { [commit]: before.answers, "this code": now.answers };
  /** @type {string[]} */
  const problems = [];
  const usage = await usageRows(api, user.key);
  for (const [side, answers] of Object.entries(sides)) {
    const compared = await compare(api, user.key, answers, usage);
    problems.push(...compared.problems.map((problem) => `${side}: ${problem}`));
    say(`${side}: ${answers.length} runs, ${compared.completed} completed`);
  }
  for (const problem of problems.slice(0, SHOWN)) say(`problem: ${problem}`);
  check(
    ["every run that was accepted completed, and was charged once", problems.length === 0, `${problems.length} problems`],
    ["runs of the release before were under way when it was stopped", openAtStop > 0, `${openAtStop} runs`],
    ...(await creditChecks(api, adminKey, user.cookie)),
  );
});
