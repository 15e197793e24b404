import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createLogger } from "@nodeloom/platform";
import { createPlannerThreads, type PlannerThreads, type ThreadOptions } from "../../src/plan/planner/threads";
import type { PlanAnswer, PlanTask } from "../../src/plan/planner/protocol";

const folder = mkdtempSync(join(tmpdir(), "nodeloom-planner-"));
const started: PlannerThreads[] = [];
afterAll(async () => {
  await Promise.all(started.map((threads) => threads.stop()));
  rmSync(folder, { recursive: true, force: true });
});

const logger = createLogger("test", "silent");
const threads = (options: Partial<ThreadOptions> = {}): PlannerThreads => {
  const newThreads = createPlannerThreads({ logger, ...options });
  started.push(newThreads);
  return newThreads;
};

/** A thread that follows instructions in its task's inputs. */
const HOSTILE = join(folder, "hostile.js");
writeFileSync(
  HOSTILE,
  `const { parentPort } = require("node:worker_threads");
exports.plan = ({ id, task: { inputsJson } }) => {
  parentPort.postMessage(id);
  if (inputsJson === "spin") for (;;);
  if (inputsJson === "slow") for (const until = Date.now() + 50; Date.now() < until; );
  if (inputsJson === "grow") { const chunks = []; for (;;) chunks.push(new Array(1000).fill(inputsJson + chunks.length)); }
  return { answer: "missing", environment: Object.keys(process.env) };
};`,
);

const task = (inputsJson: string, nodes: unknown[] = []): PlanTask => ({
  target: { graph: { key: "graph@1", nodesJson: JSON.stringify(nodes), edgesJson: "[]" }, isForeign: false },
  inputsJson,
  models: [],
  media: [],
  lookedUp: [],
  markupPermille: 1_500,
});
const AWAY = {
  reason: "SERVICE_UNAVAILABLE",
  message: "planning this run takes too much time or memory: make the graph or its inputs smaller",
};

it("determines in a thread the requirements of a graph", async () => {
  const nodesJson = JSON.stringify([{ id: "pic", type: "generate-image", data: { model: "painter" } }]);
  const answer = await threads().needs({ key: "graph@2", nodesJson, edgesJson: "[]" }, { userId: "u" });
  expect(answer).toEqual({ answer: "needs", models: ["painter"], workflows: [] });
});

it("plans in a thread", async () => {
  const answer = await threads().plan(task("{}", [{ id: "box", type: "text-box", data: { text: "hi" } }]), { userId: "u" });
  expect(answer).toMatchObject({ answer: "plan", plan: { steps: [], evaluated: [{ id: "box" }] } });
});

it("rejects a plan that takes too long, and plans the next one", async () => {
  const { plan } = threads({ script: HOSTILE, maxTaskMs: 500 });
  await expect(plan(task("spin"), { userId: "u" })).rejects.toMatchObject(AWAY);
  await expect(plan(task("fine"), { userId: "u" })).resolves.toMatchObject({ answer: "missing" });
});

it("rejects a plan that exceeds its heap, and plans the next one", async () => {
  const { plan } = threads({ script: HOSTILE, heapMb: 16, maxTaskMs: 60_000 });
  await expect(plan(task("grow"), { userId: "u" })).rejects.toMatchObject(AWAY);
  await expect(plan(task("fine"), { userId: "u" })).resolves.toMatchObject({ answer: "missing" });
});

it("rejects a plan whose thread can't start", async () => {
  const broken = join(folder, "broken.js");
  writeFileSync(broken, "throw new Error('it is broken')");
  const { plan } = threads({ script: broken, maxStartMs: 2_000 });
  await expect(plan(task("fine"), { userId: "u" })).rejects.toMatchObject(AWAY);
  await expect(plan(task("fine"), { userId: "u" })).rejects.toMatchObject(AWAY);
});

it("gives a thread no environment variables", async () => {
  const answer = (await threads({ script: HOSTILE }).plan(task("fine"), { userId: "u" })) as PlanAnswer & { environment: string[] };
  expect(answer.environment).toEqual([]);
});

it("lets one user's plan pass another's queue", async () => {
  const { plan } = threads({ script: HOSTILE });
  const order: string[] = [];
  const note = (name: string) => (): void => void order.push(name);
  const busy = Array.from({ length: 8 }, (_, index) => plan(task("slow"), { userId: "many" }).then(note(`many ${index}`)));
  await Promise.all([...busy, plan(task("fine"), { userId: "other" }).then(note("other"))]);
  expect(order.indexOf("other")).toBeLessThan(order.indexOf("many 5"));
});
