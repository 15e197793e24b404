import { creditChecks } from "../support/invariants.mjs";
import { pause, pidOf, readLocal } from "../support/platform.mjs";
import { stats } from "./service.mjs";

/** Kills the inference service and its models' processes during runs that cost credits. No run may be lost or charged twice. */

const RUNS = 50;
const PRICE_USD = 0.01;
/** Kills of the service, and of its models' processes. */
const KILLS = 8;
const ENDED_BETWEEN = 5;
const LOOK_MS = 300;
/** Number of unfinished runs to watch, oldest first. */
const LOOKED_AT = 12;
const WAIT_MS = 10 * 60_000;

/** @param {() => number} find returns a process's id; throws if there is none now */
const kill = (find) => {
  try {
    process.kill(find(), "SIGKILL");
    return 1;
  } catch {
    return 0;
  }
};

/** @returns {Promise<number[]>} empty while the service is unavailable */
const loadedPids = () =>
  stats().then(
    ({ loaded }) => Object.values(loaded),
    () => [],
  );

/** @param {import("../support/run-drill.mjs").Drill} drill @param {ReturnType<typeof import("../support/api.mjs").createApi>} api */
export const kills = async ({ say, check, atEnd }, api) => {
  const { admin, business } = readLocal().accounts;
  const { apiKey: key } = business;
  const asAdmin = { key: admin.apiKey };
  const price = (/** @type {number} */ perRunUsd) =>
    api.call("PATCH", "/api/admin/models/local-speech", { ...asAdmin, body: { price: { perRunUsd } } });
  const cookie = await api.signIn(business);
  const credits = async () => {
    const { plan, topUp, held } = (await api.call("GET", "/api/me", { cookie })).body.credits;
    return { free: plan + topUp, held };
  };
  const priced = await price(PRICE_USD);
  if (priced.status !== 200) throw new Error(`no price: ${JSON.stringify(priced.body)}`);
  atEnd(() => price(0));
  const { tierPrice } = (await api.call("GET", "/api/models/local-speech", { key })).body;
  const before = await credits();

  const ids = [];
  for (let index = 0; index < RUNS; index += 1) {
    const body = { inputs: { prompt: `This is run number ${index}.` } };
    const { status, body: answer } = await api.call("POST", "/api/models/local-speech/run?async=true", {
      key,
      body,
      idempotencyKey: `kill-${before.free}-${index}`,
    });
    if (status !== 202) throw new Error(`run ${index}: ${JSON.stringify(answer)}`);
    ids.push(answer.executionId);
  }
  const end = Date.now() + WAIT_MS;
  let [services, models] = [0, 0];
  /** @type {string[]} */
  let open = [...ids];
  const statuses = new Map();
  while (open.length > 0 && Date.now() < end) {
    // Kills the service and a model's process again after some more runs have ended, while a model works.
    const [pid] = services < KILLS && statuses.size >= services * ENDED_BETWEEN ? await loadedPids() : [];
    if (pid !== undefined) {
      models += kill(() => pid);
      services += kill(() => pidOf("inference"));
    }
    await pause(LOOK_MS);
    for (const id of open.slice(0, LOOKED_AT)) {
      const { body } = await api.call("GET", `/api/executions/${id}`, { key });
      if (body.status !== "processing") statuses.set(id, body.status);
    }
    open = open.filter((id) => !statuses.has(id));
  }
  say(`${services} kills of the service, ${models} of its models`);
  const completed = [...statuses.values()].filter((status) => status === "completed").length;
  check(["both were killed", services === KILLS && models === KILLS, `${services} and ${models} times`]);
  check(["no run is lost", completed === RUNS, `${completed} of ${RUNS} completed`]);
  const after = await credits();
  const charged = before.free - after.free;
  const expected = RUNS * tierPrice.perRunCredits;
  check(["each is charged once", Math.abs(charged - expected) < 1e-6 && after.held === before.held, `${charged} credits of ${expected}`]);
  check(...(await creditChecks(api, admin.apiKey, cookie)));
};
