/**
 * `npm run drill relay`: four processes relay 25,000 rows to a receiver that is away for ten minutes. The process that relays is killed while
 * the receiver is away, and again after its return. Each entry must arrive, with few repeated calls. `-- --minutes 1` shortens the absence.
 */
import { fork } from "node:child_process";
import { once } from "node:events";
import { readFile } from "node:fs/promises";
import { createServer } from "node:http";
import { createRequire } from "node:module";
import { setTimeout as delay } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { startOwnMongodb } from "../support/mongodb.mjs";
import { runDrill, seconds } from "../support/run-drill.mjs";

export const DRILL = {
  sentence: "lets four processes relay 25,000 rows to a receiver that is away for ten minutes: each entry must arrive, almost once",
  minutes: 12,
  builds: true,
};

const { values } = parseArgs({ options: { minutes: { type: "string", default: "10" } } });
const AWAY_MS = Number(values.minutes) * 60_000;
const ROWS = 25_000;
const REPLICAS = 4;
const MAX_CALLS = 1.2;
/** Longest pause between attempts, and the time to deliver all rows. */
const DRAIN_MS = 480_000;
const LOOK_MS = 1_000;
const MAX_MEGABYTES = 300;
const KIB_PER_MIB = 1024;

const REPLICA = fileURLToPath(new URL("replica.mjs", import.meta.url));
const platform = createRequire(new URL("../../../services/platform/package.json", import.meta.url));
const { MongoClient } = platform("mongoose").mongo;

/** @param {import("node:child_process").ChildProcess} child */
const megabytesOf = async ({ pid }) => {
  const status = await readFile(`/proc/${pid}/status`, "utf8").catch(() => "");
  return Number(/^VmHWM:\s+(\d+)/m.exec(status)?.[1] ?? 0) / KIB_PER_MIB;
};

await runDrill("relay", async ({ say, check, atEnd }) => {
  const uri = await startOwnMongodb(atEnd);
  const client = new MongoClient(uri);
  atEnd(() => client.close());
  const rows = client.db("relay").collection("rows");
  await rows.insertMany(Array.from({ length: ROWS }, (_row, index) => ({ _id: String(index).padStart(5, "0"), outbox: ["usage"] })));

  let isUnreachable = true;
  let [callsAway, callsBack] = [0, 0];
  /** @type {Set<string>} */
  const received = new Set();
  const receiver = createServer((request, response) => {
    if (isUnreachable) {
      callsAway += 1;
      request.socket.destroy();
      return;
    }
    callsBack += 1;
    received.add(request.url ?? "");
    response.end();
  }).listen(0, "127.0.0.1");
  await once(receiver, "listening");
  atEnd(() => receiver.closeAllConnections());
  const { port } = /** @type {import("node:net").AddressInfo} */ (receiver.address());

  const start = () => fork(REPLICA, [uri, "relay", `http://127.0.0.1:${port}`]);
  const replicas = Array.from({ length: REPLICAS }, start);
  atEnd(() => replicas.forEach((replica) => replica.kill()));
  let most = 0;
  const sampling = setInterval(() => void Promise.all(replicas.map(megabytesOf)).then((all) => (most = Math.max(most, ...all))), LOOK_MS);
  atEnd(() => clearInterval(sampling));

  /** Kills the process that holds the lease, which has used the most processor time, and starts another. */
  const killBusiest = async () => {
    const ticks = await Promise.all(
      replicas.map(async ({ pid }) => {
        const fields = (await readFile(`/proc/${pid}/stat`, "utf8")).split(" ");
        return Number(fields[13]) + Number(fields[14]);
      }),
    );
    const index = ticks.indexOf(Math.max(...ticks));
    replicas[index]?.kill("SIGKILL");
    replicas[index] = start();
    say("SIGKILL to the process that relays");
  };

  say(`${ROWS} rows, ${REPLICAS} processes, the receiver is away for ${seconds(AWAY_MS)} s`);
  await delay(AWAY_MS / 2);
  await killBusiest();
  await delay(AWAY_MS / 2);
  say(`${callsAway} calls while the receiver was away`);
  isUnreachable = false;
  const backAt = Date.now();
  while (received.size < ROWS / 2 && Date.now() - backAt < DRAIN_MS) await delay(LOOK_MS / 10);
  await killBusiest();
  let left = ROWS;
  while (left > 0 && Date.now() - backAt < DRAIN_MS) {
    await delay(LOOK_MS);
    left = await rows.countDocuments({ "outbox.0": { $exists: true } });
  }
  const tookMs = Date.now() - backAt;
  check(
    [
      "every entry arrived and was cleared",
      received.size === ROWS && left === 0,
      `${received.size} of ${ROWS}, ${left} left, in ${seconds(tookMs)} s`,
    ],
    [
      `calls after its return are at most ${MAX_CALLS} of the entries`,
      callsBack <= ROWS * MAX_CALLS,
      `${callsBack}, ${(callsBack / ROWS).toFixed(3)} of the entries`,
    ],
    ["processes need little memory", most <= MAX_MEGABYTES, `at most ${most.toFixed(0)} MB`],
  );
});
