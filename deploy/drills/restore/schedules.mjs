import { setTimeout as delay } from "node:timers/promises";

/**
 * Checks that a schedule per minute continues after the restore, and runs no time twice.
 * @typedef {ReturnType<typeof import("../support/api.mjs").createApi>} Api
 * @typedef {{ path: string, id: string }} Scheduled
 */

const LOOK_MS = 2_000;
/** A little more than two intervals of the schedule. */
const WAIT_MS = 150_000;
const PAGE = 100;

const GRAPH = {
  name: "Restored every minute",
  nodes: [
    { id: "text", type: "text-box", position: { x: 0, y: 0 }, data: { text: "a minute has passed" } },
    { id: "out", type: "response-output", position: { x: 0, y: 0 }, data: {} },
  ],
  edges: [{ id: "text-out", source: "text", sourceHandle: "text", target: "out", targetHandle: "text" }],
};

/** @param {{ api: Api, key: string }} options @returns {Promise<Scheduled>} */
export const createSchedule = async ({ api, key }) => {
  const saved = await api.call("POST", "/api/workflows", { key, body: GRAPH });
  const path = `/api/workflows/${saved.body.slug}/schedules`;
  const { status, body } = await api.call("POST", path, { key, body: { cron: "* * * * *", maxCredits: 1 } });
  if (status !== 201) throw new Error(`a schedule was answered ${status}: ${JSON.stringify(body)}`);
  return { path: `${path}/${body.id}`, id: body.id };
};

/**
 * Waits for the schedule's next run.
 * @param {{ api: Api, key: string, schedule: Scheduled }} options
 * @returns {Promise<[name: string, ok: boolean, detail: string][]>}
 */
export const verifySchedule = async ({ api, key, schedule }) => {
  const read = async () => (await api.call("GET", schedule.path, { key })).body;
  const before = await read();
  let now = before;
  const isOn = () => now.history[0] !== undefined && now.history[0].at !== before.history[0]?.at;
  for (const end = Date.now() + WAIT_MS; !isOn() && Date.now() < end; now = await read()) await delay(LOOK_MS);
  const times = now.history.map((/** @type {any} */ { at }) => at);
  const started = now.history.filter((/** @type {any} */ { outcome }) => outcome === "started");
  const { body } = await api.call("GET", `/api/executions?limit=${PAGE}&metadata.scheduleId=${schedule.id}`, { key });
  return [
    ["the schedule goes on", isOn() && now.history[0].outcome === "started", JSON.stringify(now.history[0] ?? now.stopped)],
    [
      "no time of the schedule ran twice",
      new Set(times).size === times.length && body.rows.length === started.length,
      `${times.length} times, ${started.length} started, ${body.rows.length} runs`,
    ],
  ];
};
