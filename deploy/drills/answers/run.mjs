/**
 * `npm run drill answers`: kills and stops gateways, executions, billing and Temporal during forty parallel requests with shared and unique
 * idempotency keys. Of gateways and executions, only one of two replicas is stopped at a time. Then every response is compared with the
 * outcome of its run; none may be false. The drill takes bounded time and affects only processes that it started.
 */
import { freePort } from "../../local/servers/ports.cjs";
import { createApi } from "../support/api.mjs";
import { compare } from "./check.mjs";
import { createAnswerLoad } from "./load.mjs";
import { pause, pidOf, readLocal, startPlatform } from "../support/platform.mjs";
import { createReceiver } from "../support/receiver.mjs";
import { startBalancer, startReplica } from "../support/replicas.mjs";

export const DRILL = { sentence: "kills and stops replicas under forty requests at a time: every answer must be true", minutes: 3 };

const ROUNDS = Number(process.env.CHAOS_ROUNDS ?? 1);
/** Pause between faults: long enough for a supervisor to restart a process, short enough for the next fault to hit its recovery. */
const GAP_MS = 4_000;
const SETTLE_MS = 180_000;
const POLL_MS = 1_000;
const SHOWN = 20;

const started = Date.now();
const say = (/** @type {string} */ line) => process.stdout.write(`${((Date.now() - started) / 1000).toFixed(1).padStart(6)} s  ${line}\n`);

const receiver = await createReceiver();
const balancer = await startBalancer();
const firstAddress = `127.0.0.1:${await freePort()}`;
balancer.replicas.push({ address: firstAddress, isStopped: false });
const platform = await startPlatform({
  EGRESS_ALLOW: receiver.address,
  EXECUTIONS_LISTEN: firstAddress,
  EXECUTIONS_ADDRESS: balancer.address,
});
/** @type {{ stop: () => Promise<void> }[]} */
const replicas = [];
let failed = true;

/** Periods without any replica of executions. */
const allDown = /** @type {{ from: number, until: number }[]} */ ([]);

const createFaults = (/** @type {{ pid: () => number }} */ executions, /** @type {{ pid: () => number }} */ gateway) => {
  /** @type {Record<string, () => number>} */
  const targets = {
    "executions 1": () => pidOf("executions"),
    "executions 2": executions.pid,
    "gateway 1": () => pidOf("gateway"),
    "gateway 2": gateway.pid,
    billing: () => pidOf("billing"),
    temporal: () => pidOf("temporal"),
  };
  const kill = async (/** @type {string} */ name) => {
    process.kill(/** @type {() => number} */ (targets[name])(), "SIGKILL");
    say(`SIGKILL ${name}`);
    await pause(GAP_MS);
  };
  const stop = async (/** @type {string} */ name, /** @type {number} */ forMs) => {
    const pid = /** @type {() => number} */ (targets[name])();
    const replica = balancer.replicas[["executions 1", "executions 2"].indexOf(name)];
    process.kill(pid, "SIGSTOP");
    say(`SIGSTOP ${name} for ${forMs / 1_000} s`);
    if (replica) replica.isStopped = true;
    try {
      await pause(forMs);
    } finally {
      process.kill(pid, "SIGCONT");
      if (replica) replica.isStopped = false;
    }
    await pause(GAP_MS);
  };
  return { kill, stop };
};

/** Body of a read that must return 200. */
const read = async (
  /** @type {ReturnType<typeof createApi>} */ api,
  /** @type {string} */ path,
  /** @type {{ key?: string, cookie?: string }} */ identity,
) => {
  const { status, body } = await api.call("GET", path, identity);
  if (status !== 200) throw new Error(`GET ${path}: ${status} ${JSON.stringify(body)}`);
  return body;
};

/** All executions that this drill created. */
const listed = async (/** @type {ReturnType<typeof createApi>} */ api, /** @type {string} */ key) => {
  const rows = [];
  for (let cursor = ""; ;) {
    const body = await read(api, `/api/executions?limit=100${cursor === "" ? "" : `&cursor=${encodeURIComponent(cursor)}`}`, { key });
    rows.push(...body.rows.filter((/** @type {any} */ row) => row.metadata?.chaos !== undefined));
    if (!body.nextCursor) return rows;
    cursor = body.nextCursor;
  }
};

const settled = async (/** @type {ReturnType<typeof createApi>} */ api, /** @type {import("../support/api.mjs").User} */ user) => {
  for (const end = Date.now() + SETTLE_MS; ; await pause(POLL_MS)) {
    const body = await read(api, "/api/executions?limit=1&status=processing", { key: user.key });
    const me = await read(api, "/api/me", { cookie: user.cookie });
    if ((body.rows.length === 0 && me.credits.held === 0) || Date.now() > end) return me.credits.held;
  }
};

const faults = async (/** @type {ReturnType<typeof createFaults>} */ { kill, stop }) => {
  for (let round = 0; round < ROUNDS; round += 1) {
    await kill("executions 1");
    await stop("executions 2", 8_000);
    await kill("gateway 1");
    await stop("gateway 2", 5_000);
    await kill("billing");
    await stop("billing", 6_000);
    await kill("executions 2");
    await stop("temporal", 8_000);
    await stop("executions 1", 12_000);
    await kill("gateway 2");
    await kill("temporal");
  }
  const from = Date.now();
  say("no replica of executions is up:");
  await Promise.all([kill("executions 1"), kill("executions 2")]);
  await pause(GAP_MS);
  allDown.push({ from, until: Date.now() });
};

try {
  const api = createApi(() => readLocal().baseUrl);
  const user = await api.enterprise(readLocal().accounts, receiver.url);
  const { apiKey: admin } = readLocal().accounts.admin;
  const [executionsListen, gatewayListen] = [`127.0.0.1:${await freePort()}`, `127.0.0.1:${await freePort()}`];
  const [executions, gateway] = await Promise.all([
    startReplica({ service: "executions", folder: "services/executions", env: { EXECUTIONS_LISTEN: executionsListen } }),
    startReplica({ service: "gateway", folder: "gateway", env: { GATEWAY_LISTEN: gatewayListen } }),
  ]);
  replicas.push(gateway, executions);
  balancer.replicas.push({ address: executionsListen, isStopped: false });
  say("40 requests at a time while gateways, executions, billing and Temporal are killed and stopped");
  const load = createAnswerLoad({ gateways: [readLocal().baseUrl, `http://${gatewayListen}`], apiKey: user.key });
  await pause(GAP_MS);
  await faults(createFaults(executions, gateway));
  const answered = await load.end();
  const heldCredits = await settled(api, user);
  // The account can have runs of an earlier round of chaos.
  const keys = new Set(answered.map(({ key }) => key));
  const rows = (await listed(api, user.key)).filter(({ metadata }) => keys.has(metadata.chaos));
  const { untrue, counts } = compare(answered, rows);
  say(`${answered.length} answers of ${keys.size} keys, ${rows.length} executions`);
  say(`answers: ${[...counts].map(([name, count]) => `${name} × ${count}`).join(", ")}`);
  const unknown = answered.filter(({ isUnknown }) => isUnknown);
  const unexcused = unknown.filter(({ sentAt, answeredAt }) => !allDown.some(({ from, until }) => sentAt < until && answeredAt > from));
  const ends = [gateway.ends(), executions.ends()];
  const ledger = await read(api, "/api/admin/ledger/check", { key: admin });
  const usage = [];
  for (let offset = 0; ; offset += 500) {
    const body = await read(api, `/api/usage?limit=500&offset=${offset}`, { key: user.key });
    usage.push(...body.rows);
    if (body.rows.length < 500) break;
  }
  const ids = new Set(rows.map(({ executionId }) => executionId));
  const own = usage.filter(({ executionId }) => ids.has(executionId));
  const milli = (/** @type {{ creditsCost: number }[]} */ of) =>
    of.reduce((sum, { creditsCost }) => sum + Math.round(creditsCost * 1_000), 0);
  /** @type {[string, boolean, string][]} */
  const checks = [
    ["no answer is untrue", untrue.length === 0, `${untrue.length} of ${answered.length}`],
    [
      "what became of a run is known while one executions replica is up",
      unexcused.length === 0,
      `${unexcused.length} of ${unknown.length} unknown`,
    ],
    [
      "one usage row for each execution, of the same credits",
      own.length === rows.length && milli(own) === milli(rows),
      `${own.length} rows, ${milli(own)} and ${milli(rows)} milli-credits`,
    ],
    ["the ledger's invariants hold", ledger.ok === true, JSON.stringify(ledger.mismatches)],
    ["nothing is held any more", heldCredits === 0, `${heldCredits} credits`],
    [
      "the second replicas ended only when they were killed",
      ends.every((times) => times === 0),
      `by themselves ${ends.join(" and ")} times`,
    ],
  ];
  for (const problem of untrue.slice(0, SHOWN)) say(`untrue: ${problem}`);
  for (const [name, ok, detail] of checks) say(`${ok ? "ok    " : "FAILED"}  ${name}: ${detail}`);
  failed = checks.some(([, ok]) => !ok);
} catch (error) {
  say(error instanceof Error ? (error.stack ?? error.message) : String(error));
} finally {
  await Promise.all(replicas.map((replica) => replica.stop()));
  await platform.stop();
  balancer.close();
  receiver.close();
}
process.stdout.write(failed ? "\nanswers: FAILED\n" : "\nanswers: passed\n");
process.exit(failed ? 1 : 0);
