import { createPortBook, type PortRules } from "../../src/canvas/ports";
import { readDocGraph, nodesOf, edgesOf, type DocGraph } from "../../src/document/graph";
import { extract, type Extraction } from "../../src/editor/subgraph/extract";

const IMAGE = {
  properties: { prompt: { type: "string" }, seed: { type: "integer" }, image: { format: "media", contentMediaType: "image/*" } },
};
const rules: PortRules = { schemaOf: (node) => (node.type === "generate-image" ? IMAGE : undefined), resultsOf: () => undefined };

const node = (id: string, type: string, data: object = {}): object => ({ id, type, position: { x: 100, y: 50 }, data, extra: { of: id } });
const edge = (from: string, to: string): object => {
  const [[source, sourceHandle], [target, targetHandle]] = [from.split("."), to.split(".")];
  return { id: `${from}-${to}`, source, target, sourceHandle, targetHandle, kept: true };
};
const graphOf = (nodes: object[], edges: object[]): DocGraph => readDocGraph(JSON.stringify(nodes), JSON.stringify(edges));

const STORY = graphOf(
  [
    node("in", "request-input", { fields: [{ name: "topic", type: "select", options: ["a", "b"], label: "What of" }] }),
    node("style", "text-box", { text: "ink" }),
    node("words", "text-box", { text: "{{topic}} in {{style}}" }),
    node("pic", "generate-image", { model: "m" }),
    node("again", "generate-image", { model: "m" }),
    node("out", "response-output"),
  ],
  [
    edge("in.topic", "words.topic"),
    edge("style.text", "words.style"),
    edge("words.text", "pic.prompt"),
    edge("style.text", "pic.seed"),
    edge("pic.image", "again.image"),
    edge("pic.image", "out.images"),
    edge("again.image", "out.images"),
  ],
);

const of = (graph: DocGraph, ids: string[]): Extraction => {
  const extraction = extract(
    graph,
    nodesOf(graph).filter(({ id }) => ids.includes(id)),
    createPortBook()(graph, rules),
  );
  if ("problem" in extraction) throw new Error(extraction.problem);
  return extraction;
};
const problemOf = (graph: DocGraph, ids: string[]): string => {
  const extraction = extract(
    graph,
    nodesOf(graph).filter(({ id }) => ids.includes(id)),
    createPortBook()(graph, rules),
  );
  return "problem" in extraction ? extraction.problem : "";
};
const links = (graph: DocGraph): string[] =>
  edgesOf(graph).map(({ source, sourceHandle, target, targetHandle }) => `${source}.${sourceHandle}-${target}.${targetHandle}`);

it("makes fields of what flows into a part and members of what flows out, and keeps every node's text", () => {
  const { inner } = of(STORY, ["words", "pic"]);
  const within = readDocGraph(inner.nodes, inner.edges);
  expect(nodesOf(within).map(({ id }) => id)).toEqual(["words", "pic", "input", "output"]);
  expect(nodesOf(within)[0]!.text).toBe(nodesOf(STORY)[2]!.text);
  expect(nodesOf(within)[2]!.data.fields).toEqual([
    { name: "topic", type: "select", options: ["a", "b"], label: "What of" },
    { name: "style", type: "textarea", label: "Style" },
  ]);
  expect(links(within)).toEqual([
    "input.topic-words.topic",
    "input.style-words.style",
    "words.text-pic.prompt",
    "input.style-pic.seed",
    "pic.image-output.images",
  ]);
});

it("puts one node in the part's place, with its links in their order and their own members", () => {
  const { graph, id } = of(STORY, ["words", "pic"]).outer("part-of-it", "Drawing");
  expect(nodesOf(graph).map((one) => one.id)).toEqual(["in", "style", "again", "out", id]);
  expect(links(graph)).toEqual([
    `in.topic-${id}.topic`,
    `style.text-${id}.style`,
    `${id}.images-again.image`,
    `${id}.images-out.images`,
    "again.image-out.images",
  ]);
  expect(edgesOf(graph).every(({ text }) => text.includes('"kept":true'))).toBe(true);
  expect(nodesOf(graph).at(-1)!.data).toMatchObject({
    slug: "part-of-it",
    label: "Drawing",
    ports: {
      inputs: [
        { name: "topic", type: "text" },
        { name: "style", type: "text" },
      ],
      outputs: [{ name: "images", type: "image" }],
    },
  });
});

it("leaves inputs and results where they are, and gives what its last nodes give where nothing leaves it", () => {
  const { inner } = of(STORY, ["in", "style", "words", "pic", "again", "out"]);
  expect(
    nodesOf(readDocGraph(inner.nodes, inner.edges))
      .map(({ type }) => type)
      .sort(),
  ).toEqual(["generate-image", "generate-image", "request-input", "response-output", "text-box", "text-box"]);
  const alone = graphOf([node("words", "text-box", { text: "x" })], []);
  const part = of(alone, ["words"]).inner;
  expect(links(readDocGraph(part.nodes, part.edges))).toEqual(["words.text-output.text"]);
});

it("gives two outputs of a type members of their own", () => {
  const { inner } = of(STORY, ["pic", "again"]);
  expect(links(readDocGraph(inner.nodes, inner.edges)).filter((link) => link.includes("output"))).toEqual([
    "pic.image-output.images",
    "again.image-output.images-2",
  ]);
});

it("rejects a part that would form a cycle with outside nodes, and an empty one", () => {
  expect(problemOf(STORY, ["words", "again"])).toContain("is between");
  expect(problemOf(STORY, ["in", "out"])).toContain("Select the nodes");
});
