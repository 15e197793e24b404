import { createBriefPlanner, isBrief } from "../../src/plan/planner/brief";
import { createPlanTask } from "../../src/plan/planner/plan-task";
import type { Planner, PlanTask } from "../../src/plan/planner/protocol";

const runner = { userId: "u" };

/** A planner, and the tasks that it left to threads. */
const setUp = () => {
  const left: PlanTask[] = [];
  const inThread = createPlanTask();
  const threads: Planner = (task) => {
    left.push(task);
    return Promise.resolve(inThread(task));
  };
  return { plan: createBriefPlanner(threads), left, inThread };
};

const taskOf = (nodes: unknown[], edges: unknown[] = [], inputs: object = {}): PlanTask => {
  const texts = { nodesJson: JSON.stringify(nodes), edgesJson: JSON.stringify(edges) };
  return {
    target: { graph: { key: "graph@1", isBrief: isBrief(texts), texts, isForeign: false } },
    ...{ inputsJson: JSON.stringify(inputs), models: [], media: [], lookedUp: [], markupPermille: 1_500 },
  };
};
const schema = { id: "llm", type: "llm-assistant", data: { schema: { type: "string", pattern: "a{400}" } } };
const textBox = (id: string, text: string): object => ({ id, type: "text-box", data: { text } });

it("plans what is small without a thread, as a thread would", async () => {
  const { plan, left, inThread } = setUp();
  const task = taskOf(
    [textBox("box", "hi"), { id: "out", type: "response-output", data: {} }],
    [{ id: "e", source: "box", target: "out" }],
  );
  const answer = await plan(task, runner);
  expect(answer).toMatchObject({ answer: "plan", plan: { evaluated: [{ id: "box" }] } });
  expect(answer).toEqual(inThread(task));
  expect(left).toEqual([]);
});

it("asks for a small graph's texts once", async () => {
  const { plan, left } = setUp();
  const task = taskOf([textBox("box", "hi")]);
  const { texts: _, ...known } = (task.target as Extract<PlanTask["target"], { graph: unknown }>).graph;
  const without: PlanTask = { ...task, target: { graph: known } };
  await expect(plan(without, runner)).resolves.toEqual({ answer: "texts" });
  await plan(task, runner);
  await expect(plan(without, runner)).resolves.toMatchObject({ answer: "plan" });
  expect(left).toEqual([]);
});

it.each([
  ["a long text", taskOf([textBox("box", "x".repeat(9_000))])],
  ["what has patterns to compile", taskOf([schema])],
  ["a plan for a quote", { ...taskOf([textBox("box", "x")]), storesNothing: true }],
  ["long inputs", taskOf([textBox("box", "x")], [], { text: "x".repeat(9_000) })],
])("leaves %s to a thread", async (_what, task) => {
  const { plan, left } = setUp();
  await plan(task, runner);
  expect(left).toEqual([task]);
});

it("leaves a small graph that makes much to a thread", async () => {
  const doubling = Array.from({ length: 12 }, (_, index) => textBox(`n${index}`, index === 0 ? "x".repeat(100) : "{{a}}{{a}}"));
  const edges = doubling.slice(1).map((_, index) => ({
    ...{ id: `e${index}`, source: `n${index}`, sourceHandle: "text", target: `n${index + 1}`, targetHandle: "a" },
  }));
  const { plan, left } = setUp();
  const answer = await plan(taskOf(doubling, edges), runner);
  expect({ answer: answer.answer, left: left.length }).toEqual({ answer: "plan", left: 1 });
});

it("has a thread say why a small graph can't run", async () => {
  const { plan, left } = setUp();
  const task = taskOf([{ id: "odd", type: "no-such-kind", data: {} }]);
  await expect(plan(task, runner)).resolves.toMatchObject({ answer: "error", error: { reason: "WORKFLOW_INVALID" } });
  expect(left).toEqual([task]);
});

it("sees a schema whose name is written with escapes", () => {
  const nodesJson = JSON.stringify([schema]);
  expect(isBrief({ nodesJson: "[]", edgesJson: "[]" })).toBe(true);
  expect(isBrief({ nodesJson: nodesJson.replace('"schema"', '"sch\\u0065ma"'), edgesJson: "[]" })).toBe(false);
});
