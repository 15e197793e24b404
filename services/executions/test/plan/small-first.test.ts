import { createLocalPlanner, createSmallFirstPlanner } from "../../src/plan/planner/local";
import type { Planner, PlanTask, TaskGraph } from "../../src/plan/planner/protocol";

const runner = { userId: "u" };

/** A planner, and the tasks that it passed to threads. */
const setUp = () => {
  const tasks: (PlanTask | TaskGraph)[] = [];
  const inThread = createLocalPlanner();
  const threads: Planner = {
    needs: (graph) => (tasks.push(graph), Promise.resolve(inThread.needs(graph))),
    plan: (task) => (tasks.push(task), Promise.resolve(inThread.plan(task))),
  };
  return { ...createSmallFirstPlanner(threads), left: tasks, inThread };
};

const graphOf = (nodes: unknown[], edges: unknown[] = []): TaskGraph => ({
  key: "graph@1",
  nodesJson: JSON.stringify(nodes),
  edgesJson: JSON.stringify(edges),
});
const taskOf = (nodes: unknown[], edges: unknown[] = [], inputs: object = {}): PlanTask => ({
  target: { graph: graphOf(nodes, edges), isForeign: false },
  ...{ inputsJson: JSON.stringify(inputs), models: [], media: [], lookedUp: [], markupPermille: 1_500 },
});
const schema = { id: "llm", type: "llm-assistant", data: { schema: { type: "string", pattern: "a{400}" } } };
const textBox = (id: string, text: string): object => ({ id, type: "text-box", data: { text } });

it("plans a small graph without a thread, with the same result as a thread", async () => {
  const { plan, left, inThread } = setUp();
  const task = taskOf(
    [textBox("box", "hi"), { id: "out", type: "response-output", data: {} }],
    [{ id: "e", source: "box", target: "out" }],
  );
  const answer = await plan(task, runner);
  expect(answer).toMatchObject({ answer: "plan", plan: { evaluated: [{ id: "box" }] } });
  expect(answer).toEqual(inThread.plan(task));
  expect(left).toEqual([]);
});

it("determines without a thread the requirements of a small graph, and leaves others to a thread", async () => {
  const { needs, left } = setUp();
  const small = graphOf([{ id: "pic", type: "generate-image", data: { model: "painter" } }]);
  await expect(needs(small, runner)).resolves.toEqual({ answer: "needs", models: ["painter"], workflows: [] });
  expect(left).toEqual([]);
  const long = { ...graphOf([textBox("box", "x".repeat(9_000))]), key: "graph@2" };
  await expect(needs(long, runner)).resolves.toEqual({ answer: "needs", models: [], workflows: [] });
  const unknown = { ...small, until: "nowhere" };
  await expect(needs(unknown, runner)).resolves.toMatchObject({ answer: "error", error: { reason: "INVALID_REQUEST" } });
  expect(left).toEqual([long, unknown]);
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

it("leaves a small graph with large outputs to a thread", async () => {
  const doubling = Array.from({ length: 12 }, (_, index) => textBox(`n${index}`, index === 0 ? "x".repeat(100) : "{{a}}{{a}}"));
  const edges = doubling.slice(1).map((_, index) => ({
    ...{ id: `e${index}`, source: `n${index}`, sourceHandle: "text", target: `n${index + 1}`, targetHandle: "a" },
  }));
  const { plan, left } = setUp();
  const answer = await plan(taskOf(doubling, edges), runner);
  expect({ answer: answer.answer, left: left.length }).toEqual({ answer: "plan", left: 1 });
});

it("lets a thread report why a small graph can't run", async () => {
  const { plan, left } = setUp();
  const task = taskOf([{ id: "odd", type: "no-such-kind", data: {} }]);
  await expect(plan(task, runner)).resolves.toMatchObject({ answer: "error", error: { reason: "WORKFLOW_INVALID" } });
  expect(left).toEqual([task]);
});

it("recognises a schema whose name is written with escapes", async () => {
  const { needs, left } = setUp();
  const graph = graphOf([schema]);
  const escaped = { ...graph, nodesJson: graph.nodesJson.replace('"schema"', '"sch\\u0065ma"') };
  await needs(escaped, runner);
  expect(left).toEqual([escaped]);
});
