/**
 * `npm run drill long-run`: starts one run with the maximum number of calls on a whole local platform. Clients follow its log of some
 * thousand events to the end: some stay connected, one reconnects repeatedly, and one reads it afterwards. Each must see every event once
 * and in order. Meanwhile the run's row must stay small, and reads of its execution must be fast. The drill affects only processes that it
 * started.
 */
import { mongo } from "mongoose";
import { createApi } from "../support/api.mjs";
import { node } from "../support/graph.mjs";
import { creditChecks, FINAL } from "../support/invariants.mjs";
import { pause, readLocal, startPlatform } from "../support/platform.mjs";
import { runDrill } from "../support/run-drill.mjs";

export const DRILL = {
  sentence: "follows the events of one run of 5,000 calls: none may be missing, and its row must stay small",
  minutes: 8,
  builds: true,
};

const NODES = 5;
const CALLS = 1_000;
const FOLLOWERS = 3;
/** Events between two reconnects. */
const RESTLESS = 100;
const LOOK_MS = 500;
const END_MS = 1_800_000;
/** Maximum time to read an execution during its calls, on a busy machine. */
const ANSWER_MS = 5_000;
const ROW_BYTES = 64 * 1024;
const CREDITS = 20_000;
const BUSY = 503;

/** @typedef {{ sequence: number, type: string, nodeId?: string, item?: number }} StreamedEvent */

const names = Array.from({ length: NODES }, (_, index) => `pic-${index}`);
const GRAPH = {
  name: "Long run",
  nodes: [
    node("list", "list", { items: Array.from({ length: CALLS }, (_, index) => `loom ${index}`) }),
    ...names.map((name) =>
      node(name, "generate-image", { model: "sandbox-image", maxItems: CALLS, inputs: { sandbox: { latencyMs: 100 } } }),
    ),
    node("out", "response-output"),
  ],
  edges: [
    ...names.map((name) => ({ id: name, source: "list", sourceHandle: "items", target: name, targetHandle: "prompt" })),
    { id: "out", source: "pic-0", sourceHandle: "image", target: "out", targetHandle: "images" },
  ],
};

/**
 * Reads a run's events after a number.
 * @param {string} id @param {string} key @param {number} after @param {number} [most] disconnects after this number of events
 * @returns {Promise<StreamedEvent[]>}
 */
const events = async (id, key, after, most = Infinity) => {
  const stop = new AbortController();
  const response = await fetch(`${readLocal().baseUrl}/api/executions/${id}/events`, {
    headers: { "x-api-key": key, ...(after > 0 ? { "last-event-id": String(after) } : {}) },
    signal: AbortSignal.any([stop.signal, AbortSignal.timeout(END_MS)]),
  });
  if (response.status === BUSY) {
    await pause(LOOK_MS);
    return [];
  }
  if (!response.ok || !response.body) throw new Error(`the events were answered ${response.status}`);
  /** @type {StreamedEvent[]} */
  const received = [];
  let rest = "";
  for await (const text of response.body.pipeThrough(new TextDecoderStream())) {
    const parts = (rest + text).split("\n\n");
    rest = parts.pop() ?? "";
    for (const part of parts) {
      const [, sequence] = /^id: (\d+)$/m.exec(part) ?? [];
      const [, json] = /^data: (.*)$/m.exec(part) ?? [];
      if (sequence === undefined || json === undefined) continue;
      const { type, data = {} } = JSON.parse(json);
      received.push({ sequence: Number(sequence), type, nodeId: data.nodeId, item: data.item });
      if (received.length === most) {
        stop.abort();
        return received;
      }
    }
  }
  return received;
};

/** Follows a run to its end, and reconnects whenever a stream ends early. @param {string} id @param {string} key @param {number} [most] */
const follow = async (id, key, most) => {
  /** @type {StreamedEvent[]} */
  const received = [];
  while (received.at(-1)?.type !== "settled") received.push(...(await events(id, key, received.length, most)));
  return received;
};

/** @param {number[]} values @param {number} share */
const percentile = (values, share) =>
  [...values].sort((a, b) => a - b)[Math.min(values.length - 1, Math.floor(values.length * share))] ?? 0;

/** Checks a log. Returns its faults. @param {readonly StreamedEvent[]} log */
const problemsOf = (log) => {
  const problems = [];
  const gap = log.findIndex(({ sequence }, index) => sequence !== index + 1);
  if (gap >= 0) problems.push(`event ${gap + 1} has number ${log[gap]?.sequence}`);
  if (log[0]?.type !== "admitted" || log.at(-1)?.type !== "settled") problems.push(`it goes from ${log[0]?.type} to ${log.at(-1)?.type}`);
  for (const type of ["submitted", "node.progress"]) {
    const calls = new Set(log.filter((event) => event.type === type).map(({ nodeId, item }) => `${nodeId}:${item}`));
    const count = log.filter((event) => event.type === type).length;
    if (calls.size !== NODES * CALLS || count !== calls.size) problems.push(`${count} times ${type}, of ${calls.size} calls`);
  }
  const ends = log.filter(({ type, nodeId }) => type === "node.completed" && names.includes(nodeId ?? ""));
  if (ends.length !== NODES) problems.push(`${ends.length} nodes completed`);
  return problems;
};

await runDrill("long-run", async ({ say, check, atEnd }) => {
  const platform = await startPlatform({});
  atEnd(platform.stop);
  const databases = new mongo.MongoClient(readLocal().mongoUri);
  atEnd(() => databases.close());
  const api = createApi(() => readLocal().baseUrl);
  const { accounts } = readLocal();
  const { userId, apiKey: key } = accounts.enterprise;
  const cookie = await api.signIn(accounts.enterprise);
  await api.grant(accounts, userId, CREDITS);
  const slug = await api.save(key, GRAPH);
  const submission = await api.call("POST", `/api/workflows/${slug}/run?async=true`, { key, body: { inputs: {} } });
  if (submission.status !== 202) throw new Error(`the run was answered ${submission.status}: ${JSON.stringify(submission.body)}`);
  const id = submission.body.executionId;
  say(`${NODES * CALLS} calls are made by ${id}`);

  const row = () => databases.db("nodeloom_executions").collection("executions").findOne({ _id: id });
  const following = Promise.all([...Array.from({ length: FOLLOWERS }, () => follow(id, key)), follow(id, key, RESTLESS)]);
  following.catch(() => undefined);
  /** @type {number[]} */
  const answers = [];
  /** @type {number[]} */
  const sizes = [];
  let execution;
  for (const end = Date.now() + END_MS; Date.now() < end; await pause(LOOK_MS)) {
    const askedAt = performance.now();
    execution = (await api.call("GET", `/api/executions/${id}`, { key })).body;
    answers.push(performance.now() - askedAt);
    sizes.push(mongo.BSON.calculateObjectSize((await row()) ?? {}));
    if (FINAL.has(execution.status)) break;
  }
  const logs = [...(await following), await follow(id, key)];
  const [first] = logs;
  const doneCount = execution.nodes.filter((/** @type {any} */ one) => one.status === "completed" && one.itemsDone === CALLS).length;
  say(
    `${first?.length} events; ${sizes.length} looks: the row had at most ${Math.max(...sizes)} bytes, and the execution was readable within`,
  );
  say(`${percentile(answers, 0.5).toFixed(0)} ms (half of the looks), ${Math.max(...answers).toFixed(0)} ms (all of them)`);
  check(
    [
      "the run completed, with all calls of all nodes",
      execution.status === "completed" && doneCount === NODES,
      `${execution.status}, ${doneCount} nodes`,
    ],
    ["the log has every event once, in order", problemsOf(first ?? []).length === 0, problemsOf(first ?? []).join("; ")],
    [
      "every follower received the same events",
      new Set(logs.map((log) => JSON.stringify(log))).size === 1,
      logs.map(({ length }) => length).join(),
    ],
    ["the row stayed small", Math.max(...sizes) < ROW_BYTES, `${Math.max(...sizes)} bytes`],
    ["the execution was readable in time", Math.max(...answers) < ANSWER_MS, `${Math.max(...answers).toFixed(0)} ms`],
    ...(await creditChecks(api, accounts.admin.apiKey, cookie)),
  );
});
