/**
 * `npm run drill elections`: runs a whole local platform on a replica set of three members, whose primary steps down or vanishes 50 times
 * during mixed runs. Replies of writes are lost too. Then it checks that every acknowledged write is there. The drill affects only
 * processes that it started.
 */
import { setTimeout as delay } from "node:timers/promises";
import { createLoad } from "../chaos/load.mjs";
import { checksAfter } from "../chaos/verify.mjs";
import { startOwnMongodb } from "../support/mongodb.mjs";
import { runDrill } from "../support/run-drill.mjs";
import { setStage } from "../support/stage.mjs";
import { startReplicaSet } from "./replica-set.mjs";

export const DRILL = {
  sentence: "lets the primary of a replica set step down 50 times under mixed runs: every acknowledged write must be there",
  minutes: 5,
};

const STEP_DOWNS = 50;
const RUNS = 200;
const GAP_MS = 1_500;
const SHORT_ELECTION_MS = 1_000;
/** Longer than a request waits for a primary, so that some are answered 503. */
const LONG_ELECTION_MS = 15_000;
const LONG_EVERY = 10;
const CRASH_EVERY = 3;
const LOST_REPLIES = 3;
const SPREAD_MS = 150_000;
const SETTLE_MS = 240_000;
const UNAVAILABLE = 503;

await runDrill("elections", async ({ say, check, atEnd }) => {
  const uri = await startOwnMongodb(atEnd);
  const replicaSet = await startReplicaSet(Number(new URL(uri).port));
  atEnd(replicaSet.close);
  /** @type {string[]} */
  const faults = [];
  let unavailable = 0;
  /** @type {import("../support/stage.mjs").OnAnswer} */
  const onAnswer = ({ status, body }, request) => {
    if (status === UNAVAILABLE) unavailable += 1;
    // Failed runs are answered 500, with other codes.
    else if (status > UNAVAILABLE || body?.code === "INTERNAL") faults.push(`${request}: ${status} ${JSON.stringify(body)}`);
  };
  const { api, adminKey, receiver, user } = await setStage({ atEnd }, { env: { MONGODB_URI: replicaSet.uri }, onAnswer });
  await api.call("PUT", `/api/keys/${user.keyId}/budget`, { cookie: user.cookie, body: { credits: 1_000_000, window: "total" } });
  const load = await createLoad({ api, user, runs: RUNS, say, spreadMs: SPREAD_MS });
  say(`${RUNS} mixed runs and two batches during ${STEP_DOWNS} elections`);
  const working = load.start();
  for (let count = 1; count <= STEP_DOWNS; count += 1) {
    await delay(GAP_MS);
    replicaSet.loseReplies(LOST_REPLIES);
    const electionMs = count % LONG_EVERY === 0 ? LONG_ELECTION_MS : Math.random() * SHORT_ELECTION_MS;
    await replicaSet.stepDown({ electionMs, crash: count % CRASH_EVERY === 0 });
  }
  const { writes, repeated, interruptedBefore, interruptedAfter, lostReplies, notPrimary } = replicaSet.counts;
  say(`${writes} writes; interrupted before the write ${interruptedBefore}, after it ${interruptedAfter}; ${lostReplies} replies lost`);
  check(
    ...(await checksAfter({ api, user, load: await working, receiver, adminKey, deadlineMs: SETTLE_MS, say })),
    ["errors of the platform are 503 only", faults.length === 0, `${unavailable} × 503; ${faults.slice(0, 3).join("; ")}`],
    [
      "elections met writes under way",
      interruptedBefore > 0 && interruptedAfter > 0 && lostReplies > 0,
      `${notPrimary} commands reached another member`,
    ],
    ["drivers repeated writes, and none was carried out twice", repeated > 0, `${repeated} repeated`],
  );
});
