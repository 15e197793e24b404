import { createHash } from "node:crypto";
import { FILM_FROM_AN_IDEA } from "../../local/seed/templates/film-from-an-idea.mjs";
import { killProcess } from "../support/faults.mjs";
import { creditChecks } from "../support/invariants.mjs";
import { pause, readLocal } from "../support/platform.mjs";
import { contentsOf, fetched, keep } from "./files.mjs";

/** Makes a film in the sandbox while services are killed at every stage of the run. */

const SERVICES = ["transform", "executions", "media"];
/** Nodes whose start triggers a kill. */
const STAGES = ["image", "clip", "voice", "frame", "narrated", "captioned", "film", "music", "scored"];
const LOOK_MS = 60;
const WAIT_MS = 8 * 60_000;
/** Long enough for a stage to be seen. */
const LATENCY_MS = 1_200;
const NEAR_SECONDS = 0.05;

/** @typedef {ReturnType<typeof import("../support/api.mjs").createApi>} Api */
/** @typedef {{ id: string, status: string, creditsCost: number, calls?: { status: string }[] }} NodeState */

const GENERATORS = new Set(["image", "clip", "voice", "music"]);
const slowed = FILM_FROM_AN_IDEA.nodes.map((node) =>
  GENERATORS.has(node.id) ? { ...node, data: { ...node.data, inputs: { sandbox: { latencyMs: LATENCY_MS } } } } : node,
);

/** Kills a service and waits for its replacement. @param {string} service @param {(line: string) => void} say */
const kill = async (service, say) => {
  const pid = await killProcess(service, say);
  for (const end = Date.now() + WAIT_MS; Date.now() < end; await pause(LOOK_MS)) {
    const next = readLocal().pids[service];
    if (next && next !== pid) return;
  }
  throw new Error(`${service} did not come back`);
};

/** @param {import("../support/run-drill.mjs").Drill} drill @param {Api} api */
export const kills = async ({ say, check }, api) => {
  const { admin, business } = readLocal().accounts;
  const { apiKey: key } = business;
  const cookie = await api.signIn(business);
  const credits = async () => {
    const { plan, topUp, held } = (await api.call("GET", "/api/me", { cookie })).body.credits;
    return { free: plan + topUp, held };
  };
  const { slug: _slug, ...film } = FILM_FROM_AN_IDEA;
  const slug = await api.save(key, { ...film, name: "Film under kills", nodes: slowed });

  let runs = 0;
  /** Runs the film and kills a service at each stage. @param {string | undefined} service */
  const make = async (service) => {
    const before = await credits();
    const submitted = await api.call("POST", `/api/workflows/${slug}/run`, {
      key,
      body: { inputs: {} },
      prefer: "respond-async",
      idempotencyKey: `film-${process.pid}-${(runs += 1)}`,
    });
    if (submitted.status !== 202) throw new Error(`not begun: ${JSON.stringify(submitted.body)}`);
    const { executionId } = submitted.body;
    const waiting = new Set(service === undefined ? [] : STAGES);
    let killed = 0;
    const look = async () => (await api.call("GET", `/api/executions/${executionId}`, { key })).body;
    let execution = await look();
    for (const end = Date.now() + WAIT_MS; execution.status === "processing" && Date.now() < end; execution = await look()) {
      const startedNode = execution.nodes.find((/** @type {NodeState} */ { id, status }) => waiting.has(id) && status === "processing");
      if (startedNode && service !== undefined) {
        waiting.delete(startedNode.id);
        await kill(service, say);
        killed += 1;
      }
      await pause(LOOK_MS);
    }
    const after = await credits();
    return { execution, killed, charged: before.free - after.free, held: after.held - before.held };
  };

  /** @param {any} execution @param {string} name */
  const filmOf = async ({ result, error }, name) => {
    const url = result?.videos?.[0]?.url;
    if (url === undefined) throw new Error(`${name}: no film: ${JSON.stringify(error ?? result)}`);
    const bytes = await fetched(url);
    const contents = contentsOf(keep(`${name}.mp4`, bytes));
    return { contents, hash: createHash("sha256").update(bytes).digest("hex") };
  };

  const calm = await make(undefined);
  const whole = await filmOf(calm.execution, "film-from-an-idea-sandbox");
  say(`undisturbed: ${whole.contents.seconds} s of film for ${calm.charged} credits`);
  check(["a film is made of an idea in one call", whole.contents.isWhole && whole.contents.hasSound, JSON.stringify(whole.contents)]);
  // The first run can use trial grants.
  const usual = await make(undefined);
  const paidNodes = usual.execution.nodes.filter((/** @type {NodeState} */ { creditsCost }) => creditsCost > 0);
  const unpaid = [...GENERATORS].filter((id) => paidNodes.every((/** @type {NodeState} */ node) => node.id !== id));
  check(["every model that works on it is paid", unpaid.length === 0, `not paid: ${unpaid.join(", ") || "none"}`]);
  for (const service of SERVICES) {
    const { execution, killed, charged, held } = await make(service);
    say(`${service}: killed ${killed} times`);
    check([
      `a film is completed though ${service} is killed`,
      execution.status === "completed",
      `${killed} kills; ${JSON.stringify(execution.error ?? "")}`,
    ]);
    check([`${service} was killed at most stages`, killed >= STAGES.length - 2, `${killed} of ${STAGES.length}`]);
    const { contents } = await filmOf(execution, `film-killed-${service}`);
    const isSame =
      contents.isWhole && Math.abs(contents.seconds - whole.contents.seconds) <= NEAR_SECONDS && contents.frames === whole.contents.frames;
    check([`it is the same film`, isSame, JSON.stringify(contents)]);
    const isOnce = Math.abs(charged - usual.charged) < 1e-6 && held === 0;
    check([`it is charged once`, isOnce, `${charged} credits; undisturbed ${usual.charged}; held ${held}`]);
  }
  check(...(await creditChecks(api, admin.apiKey, cookie)));
};
