import { inlineWorkflows, planRun, readGraph, type PlanStep, type RunPlan } from "@nodeloom/kernel";
import { GraphRun } from "../../src/run/graph-run";

/** Loops in a run: an HTTP request in each turn returns the next score. */

type Node = { id: string; type: string; data: Record<string, unknown> };
type Edge = [string, string];

const graphOf = (nodes: Node[], edges: Edge[]): ReturnType<typeof readGraph> => {
  const end = (name: string): [string, string] => name.split(".") as [string, string];
  const graphEdges = edges.map(([from, to], index) => {
    const [[source, sourceHandle], [target, targetHandle]] = [end(from), end(to)];
    return { id: `e${index}`, source, sourceHandle, target, targetHandle };
  });
  return readGraph(JSON.stringify(nodes), JSON.stringify(graphEdges));
};
const out: Node = { id: "out", type: "response-output", data: {} };
const fields = (...names: string[]): Node => ({
  id: "in",
  type: "request-input",
  data: { fields: names.map((name) => ({ name, type: "text" })) },
});

/** One turn: a request for a score, a request whose answer no node reads, and the draft with one more letter. */
const turn = graphOf(
  [
    fields("draft"),
    { id: "score", type: "http-request", data: { url: "https://score.test/{{draft}}" } },
    { id: "note", type: "http-request", data: { url: "https://note.test/" } },
    { id: "longer", type: "text-box", data: { text: "{{draft}}x" } },
    out,
  ],
  [
    ["in.draft", "score.draft"],
    ["in.draft", "longer.draft"],
    ["longer.text", "out.draft"],
    ["score.body", "out.score"],
  ],
);
const skipping = graphOf(
  [
    { id: "ask", type: "http-request", data: { url: "https://ask.test/" } },
    { id: "way", type: "switch", data: { cases: [{ name: "on", left: "{{value}}", op: "equals", right: "go" }] } },
    { id: "loop", type: "loop", data: { slug: "turn", count: 2, until: "" } },
    out,
  ],
  [
    ["ask.body", "way.value"],
    ["way.on", "loop.draft"],
    ["loop.draft", "out.draft"],
  ],
);
/** A turn whose answer leaves by one of two result members. */
const branch = graphOf(
  [
    fields("way"),
    { id: "ask", type: "http-request", data: { url: "https://ask.test/" } },
    { id: "fork", type: "switch", data: { cases: [{ name: "yes", left: "{{way}}", op: "equals", right: "yes" }] } },
    out,
  ],
  [
    ["in.way", "fork.way"],
    ["ask.body", "fork.value"],
    ["fork.yes", "out.yes"],
    ["fork.else", "out.no"],
  ],
);
/** A loop over it, with a text behind each result. @param from the node that chooses the way: a text or a request */
const branching = (from: "known" | "asked"): ReturnType<typeof readGraph> =>
  graphOf(
    [
      { id: "known", type: "text-box", data: { text: "no" } },
      { id: "asked", type: "http-request", data: { url: "https://way.test/" } },
      { id: "l", type: "loop", data: { slug: "branch", count: 2, until: "turns == `2`" } },
      { id: "a", type: "text-box", data: { text: "{{x}}" } },
      { id: "b", type: "text-box", data: { text: "{{x}}" } },
      out,
    ],
    [
      [from === "known" ? "known.text" : "asked.body", "l.way"],
      ["l.yes", "a.x"],
      ["l.no", "b.x"],
      ["a.text", "out.yes"],
      ["b.text", "out.no"],
    ],
  );
const library: Record<string, ReturnType<typeof readGraph>> = { turn, skipping, branch };

const planOf = (whole: ReturnType<typeof readGraph>): RunPlan => {
  const graph = inlineWorkflows(
    whole,
    (within, nodeId) => {
      const slug = (within === "" ? whole : library[within])?.nodes.find(({ id }) => id === nodeId)?.data.slug as string;
      return library[slug] && { key: slug, graph: library[slug] };
    },
    "",
  );
  const request = { graph: { ...graph, issues: [...graph.issues] }, inputs: new Map(), models: new Map(), media: new Map() };
  const { plan, issues } = planRun({ ...request, markupPermille: 1_000 });
  if (!plan) throw new Error(JSON.stringify(issues));
  return plan;
};
const loopOf = (data: Record<string, unknown>): RunPlan =>
  planOf(
    graphOf(
      [{ id: "l", type: "loop", data: { slug: "turn", count: 4, feedback: { draft: "draft" }, inputs: { draft: "" }, ...data } }, out],
      [
        ["l.draft", "out.draft"],
        ["l.score", "out.score"],
        ["l.turns", "out.turns"],
      ],
    ),
  );

/** Runs a plan, one batch of ready steps after another. @returns the requests in order, the skipped nodes and the end of the run */
const runOf = (plan: RunPlan, answer: (step: PlanStep) => unknown) => {
  const run = new GraphRun(plan);
  const doneIds = new Set(run.nodes.filter(({ status }) => status !== "pending").map(({ id }) => id));
  const started = new Set<string>();
  const requests: string[] = [];
  for (let ready = run.readyAfter(doneIds, started); ready.length > 0; ready = run.readyAfter(doneIds, started))
    for (const step of ready) {
      started.add(step.id);
      run.start(step, 0);
      if (step.type === "http-request") {
        requests.push(step.id);
        run.give(step.id, "body", answer(step));
      } else run.evaluate(step);
      run.complete(step.id, 0);
      doneIds.add(step.id);
    }
  const { status, result } = run.end(undefined);
  const skipped = run.nodes.filter((node) => node.status === "skipped").map(({ id }) => id);
  return { requests, skipped, status, result };
};

const turnOf = (id: string): number => Number(id.split("/")[1]);
const scoreOf = ({ id }: PlanStep): number => turnOf(id) + 1;

it("ends after the turn for which `until` is true, with the results of that turn", () => {
  const { requests, skipped, ...end } = runOf(loopOf({ until: "score == `3`" }), scoreOf);
  expect(end).toEqual({ status: "completed", result: { draft: "xx", score: 3, turns: 2 } });
  expect(requests.map(turnOf)).toEqual([1, 1, 2, 2]);
  expect(skipped.filter((id) => id.startsWith("l/2"))).toEqual([]);
  // Nodes that planning evaluated are skipped as well, if their turn didn't run.
  const rest = ["in", "score", "note", "longer"].flatMap((id) => [`l/3/${id}`, `l/4/${id}`]);
  expect([...skipped].sort()).toEqual([...rest, "l/3", "l/4"].sort());
});

it("runs every turn if `until` is never true, and one after the other", () => {
  const { requests, ...end } = runOf(loopOf({ until: "score > `9`" }), scoreOf);
  expect(end).toEqual({ status: "completed", skipped: [], result: { draft: "xxxx", score: 5, turns: 4 } });
  expect(requests.map(turnOf)).toEqual([1, 1, 2, 2, 3, 3, 4, 4]);
});

it("runs turns one after the other even if nothing flows from one to the next", () => {
  const { requests } = runOf(loopOf({ until: "", feedback: {} }), scoreOf);
  expect(requests.map(turnOf)).toEqual([1, 1, 2, 2, 3, 3, 4, 4]);
});

it("has no value for a result member that its last turn didn't make, whether planning or the run decides", () => {
  const { result } = runOf(planOf(branching("known")), () => "no");
  expect(result).toEqual({ no: "no" });
  expect(runOf(planOf(branching("asked")), () => "yes").result).toEqual({ yes: "yes" });
});

it("fails if `until` can't be computed", () => {
  expect(() => runOf(loopOf({ until: "length(score) > `1`" }), scoreOf)).toThrow(/^until: /);
});

it("skips a loop whose input gets no value, with all its turns", () => {
  const { requests, skipped, result, status } = runOf(planOf(skipping), () => "stop");
  expect(requests).toEqual(["ask"]);
  expect({ status, result }).toEqual({ status: "completed", result: {} });
  expect(skipped).toEqual(expect.arrayContaining(["loop/0", "loop/1", "loop/1/note", "loop/2/score"]));
  expect(runOf(planOf(skipping), () => "go")).toMatchObject({ skipped: [], result: { draft: "gox" } });
});
