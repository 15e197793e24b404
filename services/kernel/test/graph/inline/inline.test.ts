import { inlineWorkflows, planRun, resultMembers, workflowReferences, type InlineGraph, type Resolve } from "@nodeloom/kernel";
import { growth } from "../../../../../test-support/growth";
import { graphOf, MODELS, type Edge, type Node } from "../../support";

type Library = Record<string, InlineGraph>;

const resolveIn =
  (library: Library, whole: InlineGraph): Resolve =>
  (within, nodeId) => {
    const graph = within === "" ? whole : library[within];
    const slug = graph?.nodes.find(({ id }) => id === nodeId)?.data.slug as string;
    return library[slug] ? { key: slug, graph: library[slug] } : undefined;
  };
const inlined = (library: Library, nodes: Node[], edges: Edge[]): InlineGraph => {
  const whole = graphOf(nodes, edges);
  return inlineWorkflows(whole, resolveIn(library, whole), "");
};
const plan = (library: Library, nodes: Node[], edges: Edge[], inputs: Record<string, unknown> = {}) =>
  planRun({
    graph: inlined(library, nodes, edges),
    inputs: new Map(Object.entries(inputs)),
    models: MODELS,
    media: new Map(),
    markupPermille: 1_000,
  });

const greet = graphOf(
  [
    {
      id: "in",
      type: "request-input",
      data: {
        fields: [
          { name: "who", type: "text", required: true },
          { name: "how", type: "text", default: "Dear" },
        ],
      },
    },
    { id: "box", type: "text-box", data: { text: "{{how}} {{who}}" } },
    { id: "out", type: "response-output", data: {} },
  ],
  [
    ["in.who", "box.who"],
    ["in.how", "box.how"],
    ["box.text", "out.text"],
    ["in.who", "out.name"],
  ],
);
const inner = (id: string, data: Record<string, unknown> = {}): Node => ({ id, type: "workflow", data: { slug: "greet", ...data } });
const out: Node = { id: "out", type: "response-output", data: {} };
const source: Node = { id: "src", type: "list", data: { items: ["Ann", "Bo"] } };
const messages = (planned: ReturnType<typeof plan>): string[] => planned.issues.map(({ nodeId, message }) => `${nodeId}: ${message}`);

it("replaces a workflow node by the workflow's nodes, with its inputs, literals and defaults", () => {
  const planned = plan(
    { greet },
    [source, inner("a"), inner("b", { inputs: { who: "Cy", how: "Hi" } }), out],
    [
      ["src.items", "a.who"],
      ["a.text", "out.greetings"],
      ["a.name", "out.names"],
      ["b.text", "out.text"],
    ],
  );
  expect(planned.issues).toEqual([]);
  expect(planned.plan!.output).toEqual({
    greetings: [{ value: ["Dear Ann", "Dear Bo"] }],
    names: [{ value: ["Ann", "Bo"] }],
    text: [{ value: "Hi Cy" }],
  });
  expect(planned.plan!.evaluated.map(({ id }) => id).sort()).toEqual(["a/box", "a/in", "b/box", "b/in", "src"]);
});

const optional: Node = { id: "in", type: "request-input", data: { fields: [{ name: "style", type: "text" }] } };

it.each<[string, Record<string, unknown>, Record<string, unknown>, string]>([
  ["its default", {}, {}, "Dear Ann"],
  ["what its node says", { inputs: { how: "Hi" } }, {}, "Hi Ann"],
  ["what flows in, where that is there", { inputs: { how: "Hi" } }, { style: "Ho" }, "Ho Ann"],
])("gives a field with an empty input %s", (_what, data, inputs, text) => {
  const nodes = [optional, { id: "who", type: "text-box", data: { text: "Ann" } }, inner("a", data), out];
  const planned = plan(
    { greet },
    nodes,
    [
      ["in.style", "a.how"],
      ["who.text", "a.who"],
      ["a.text", "out.text"],
    ],
    inputs,
  );
  expect(planned.plan?.output).toEqual({ text: [{ value: text }] });
});

it("gives a field its default at any depth, even if a workflow passes its own field on", () => {
  const hand = graphOf(
    [optional, inner("deep", { inputs: { who: "Di" } }), { id: "end", type: "response-output", data: {} }],
    [
      ["in.style", "deep.how"],
      ["in.style", "end.style"],
      ["deep.text", "end.text"],
    ],
  );
  const top: Node = { id: "top", type: "workflow", data: { slug: "hand" } };
  const edges: Edge[] = [
    ["in.style", "top.style"],
    ["top.text", "out.text"],
    ["top.style", "last.how"],
    ["last.text", "out.last"],
  ];
  const planned = plan({ greet, hand }, [optional, top, inner("last", { inputs: { who: "Ed" } }), out], edges);
  expect(planned.plan?.output).toEqual({ text: [{ value: "Dear Di" }], last: [{ value: "Dear Ed" }] });
});

it("inlines to any depth, with IDs that show a node's position", () => {
  const outer = graphOf(
    [inner("deep", { inputs: { who: "Di" } }), { id: "end", type: "response-output", data: {} }],
    [["deep.text", "end.text"]],
  );
  const planned = plan({ greet, outer }, [{ id: "top", type: "workflow", data: { slug: "outer" } }, out], [["top.text", "out.text"]]);
  expect(planned.plan!.output).toEqual({ text: [{ value: "Dear Di" }] });
  expect(planned.plan!.evaluated.map(({ id }) => id)).toContain("top/deep/box");
});

it("holds, prices and counts inner nodes like outer ones", () => {
  const painter = graphOf(
    [{ id: "pic", type: "generate-image", data: { model: "pic", prompt: "a boat" } }, out],
    [["pic.image", "out.images"]],
  );
  const steps = (planned: ReturnType<typeof plan>) =>
    planned.plan!.steps.map(({ model, maxItems, maxMillicredits }) => [model, maxItems, maxMillicredits]);
  const within = plan({ painter }, [{ id: "p", type: "workflow", data: { slug: "painter" } }, out], [["p.images", "out.images"]]);
  const plain = planRun({ graph: painter, inputs: new Map(), models: MODELS, media: new Map(), markupPermille: 1_000 });
  expect(steps(within)).toEqual(steps(plain));
  expect(within.plan!.steps[0]!.id).toBe("p/pic");
});

it.each<[string, Node[], Edge[], string]>([
  ["a field that is required and not given", [inner("a"), out], [], "a: who: is required"],
  ["a value that does not fit its field", [inner("a", { inputs: { who: 3 } })], [], "a: who: must be text"],
  ["an input that it does not have", [inner("a", { inputs: { who: "x", when: 1 } })], [], "a: when: is not an input of this workflow"],
  [
    "an edge to such an input",
    [source, inner("a", { inputs: { who: "x" } })],
    [["src.items", "a.when"]],
    "a: a has no input when (edge e0); it has who, how",
  ],
  [
    "an edge from an output that it does not have",
    [inner("a", { inputs: { who: "x" } }), out],
    [["a.film", "out.film"]],
    "a: a has no output film (edge e0); it has text, name",
  ],
  ["an edge from itself", [inner("a")], [["a.text", "a.who"]], "a: is part of a cycle"],
  ["no slug", [inner("a", { slug: "" })], [], "a: slug: must name a workflow"],
])("reports problems at the workflow node: %s", (_what, nodes, edges, message) => {
  expect(messages(plan({ greet }, nodes, edges))).toContain(message);
});

it("names an inner node by its path", () => {
  const broken = graphOf([{ id: "pic", type: "generate-image", data: { model: "nonesuch" } }], []);
  const planned = plan({ broken }, [{ id: "b", type: "workflow", data: { slug: "broken" } }], []);
  expect(messages(planned)).toContain("b/pic: there is no enabled model nonesuch");
});

it("counts all nodes together and never builds an oversized graph", () => {
  const wide = graphOf(
    Array.from({ length: 60 }, (_, index): Node => ({ id: `n${index}`, type: "list", data: {} })),
    [],
  );
  const level = (slug: string): InlineGraph =>
    graphOf(
      Array.from({ length: 12 }, (_, index): Node => ({ id: `w${index}`, type: "workflow", data: { slug } })),
      [],
    );
  const library: Library = { l0: wide, l1: level("l0"), l2: level("l1"), l3: level("l2"), l4: level("l3") };
  const make = (slug: string) => inlined(library, [{ id: "top", type: "workflow", data: { slug } }], []);
  expect(
    growth(
      () => make("l3"),
      () => make("l4"),
    ),
  ).toBeLessThan(4);
  const whole = make("l4");
  expect(whole.issues.map(({ message }) => message)).toContain("with the nodes of this workflow the graph has more than 500 nodes");
});

it("lists the workflows that nodes name, and the members of a workflow's result", () => {
  const wrong = [0, -1, 1.5, 1e9, "latest", "1.0", true, [], {}].map((version, index) => inner(`wrong${index}`, { version }));
  const nodes = [inner("a"), inner("b", { version: 3 }), inner("c", { bypass: true }), { id: "d", type: "list" }, ...wrong];
  expect(workflowReferences(graphOf(nodes, []))).toEqual([
    { nodeId: "a", slug: "greet", version: "" },
    { nodeId: "b", slug: "greet", version: "3" },
  ]);
  expect(resultMembers(greet)).toEqual(["text", "name"]);
});
