/**
 * `npm run drill answers`: kills and stops gateways, executions, billing and Temporal during forty parallel requests with shared and unique
 * idempotency keys. Of gateways and executions, only one of two replicas is stopped at a time. Then every response is compared with the
 * outcome of its run; none may be false. The drill takes bounded time and affects only processes that it started.
 */
import { freePort } from "../../local/servers/ports.cjs";
import { stopProcess } from "../support/faults.mjs";
import { creditChecks, everyPage, milliOf, untilSettled, usageRows } from "../support/invariants.mjs";
import { pause, pidOf, readLocal } from "../support/platform.mjs";
import { startBalancer, startReplica } from "../support/replicas.mjs";
import { runDrill } from "../support/run-drill.mjs";
import { setStage } from "../support/stage.mjs";
import { compare } from "./check.mjs";
import { createAnswerLoad } from "./load.mjs";

export const DRILL = { sentence: "kills and stops replicas under forty requests at a time: every answer must be true", minutes: 3 };

const ROUNDS = Number(process.env.CHAOS_ROUNDS ?? 1);
/** Pause between faults: long enough for a supervisor to restart a process, short enough for the next fault to hit its recovery. */
const GAP_MS = 4_000;
const SETTLE_MS = 180_000;
const SHOWN = 20;

/** @param {{ executions: { pid: () => number }, gateway: { pid: () => number }, balancer: Awaited<ReturnType<typeof startBalancer>>, say: (line: string) => void }} options */
const createFaults = ({ executions, gateway, balancer, say }) => {
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
    say(`SIGSTOP ${name} for ${forMs / 1_000} s`);
    if (replica) replica.isStopped = true;
    await stopProcess(pid, forMs);
    if (replica) replica.isStopped = false;
    await pause(GAP_MS);
  };
  return { kill, stop };
};

/** Kills and stops processes in turn. @param {ReturnType<typeof createFaults>} faults @param {(line: string) => void} say @returns {Promise<{ from: number, until: number }>} the time without any replica of executions */
const disturb = async ({ kill, stop }, say) => {
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
  return { from, until: Date.now() };
};

await runDrill("answers", async ({ say, check, atEnd }) => {
  const balancer = await startBalancer();
  atEnd(balancer.close);
  const firstAddress = `127.0.0.1:${await freePort()}`;
  balancer.replicas.push({ address: firstAddress, isStopped: false });
  const env = { EXECUTIONS_LISTEN: firstAddress, EXECUTIONS_ADDRESS: balancer.address };
  const { api, adminKey, user } = await setStage({ atEnd }, { env });
  const [executionsListen, gatewayListen] = [`127.0.0.1:${await freePort()}`, `127.0.0.1:${await freePort()}`];
  const executions = await startReplica({
    service: "executions",
    folder: "services/executions",
    env: { EXECUTIONS_LISTEN: executionsListen },
  });
  atEnd(executions.stop);
  const gateway = await startReplica({ service: "gateway", folder: "gateway", env: { GATEWAY_LISTEN: gatewayListen } });
  atEnd(gateway.stop);
  balancer.replicas.push({ address: executionsListen, isStopped: false });
  say("40 requests at a time while gateways, executions, billing and Temporal are killed and stopped");
  const load = createAnswerLoad({ gateways: [readLocal().baseUrl, `http://${gatewayListen}`], apiKey: user.key });
  await pause(GAP_MS);
  const allDown = await disturb(createFaults({ executions, gateway, balancer, say }), say);
  const answered = await load.end();
  await untilSettled(api, user, SETTLE_MS);
  // The account can have runs of an earlier round of chaos.
  const keys = new Set(answered.map(({ key }) => key));
  const rows = (await everyPage(api, "/api/executions?limit=100", { key: user.key })).filter(({ metadata }) => keys.has(metadata?.chaos));
  const { untrue, counts } = compare(answered, rows);
  say(`${answered.length} answers of ${keys.size} keys, ${rows.length} executions`);
  say(`answers: ${[...counts].map(([name, count]) => `${name} × ${count}`).join(", ")}`);
  const unknown = answered.filter(({ isUnknown }) => isUnknown);
  const unexcused = unknown.filter(({ sentAt, answeredAt }) => sentAt >= allDown.until || answeredAt <= allDown.from);
  const ends = [gateway.ends(), executions.ends()];
  const ids = new Set(rows.map(({ executionId }) => executionId));
  const own = (await usageRows(api, user.key)).filter(({ executionId }) => ids.has(executionId));
  for (const problem of untrue.slice(0, SHOWN)) say(`untrue: ${problem}`);
  check(
    ["no answer is untrue", untrue.length === 0, `${untrue.length} of ${answered.length}`],
    [
      "what became of a run is known while one executions replica is up",
      unexcused.length === 0,
      `${unexcused.length} of ${unknown.length} unknown`,
    ],
    [
      "one usage row for each execution, of the same credits",
      own.length === rows.length && milliOf(own) === milliOf(rows),
      `${own.length} rows, ${milliOf(own)} and ${milliOf(rows)} milli-credits`,
    ],
    ...(await creditChecks(api, adminKey, user.cookie)),
    [
      "the second replicas ended only when they were killed",
      ends.every((times) => times === 0),
      `by themselves ${ends.join(" and ")} times`,
    ],
  );
});
