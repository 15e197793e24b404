import fc from "fast-check";
import type { Field, Graph, GraphNode } from "./graph";
import type { World } from "./kinds";

/** Random graphs of every node kind, with inputs and decisions. */

export interface RandomGraph {
  graph: Graph;
  inputs: Record<string, unknown>;
  decisions: World["decisions"];
  start: Start;
  /** True if it is rerun after it completed. */
  isRerun: boolean;
}

/** Way in which a run starts. */
export type Start = "sync" | "async" | "batch";

/** Random values for one node. Each kind uses what it needs. */
interface Drawn {
  kind: keyof typeof MAKERS;
  /** Outputs that are linked to the node. */
  from: number[];
  /** Length of lists. */
  size: number;
  choice: number;
}

/** Facts about an output before the run. */
interface Output {
  node: string;
  port: string;
  carries: "text" | "count" | "image" | "value" | "faults";
  /** True if the output can contain files or their addresses. `deep`: inside objects. */
  files: "none" | "plain" | "deep";
}

interface Builder {
  graph: Graph;
  /** Origin that http-request nodes call, such as `127.0.0.1:8080`. */
  origin: string;
  outputs: Output[];
  decisions: Record<string, boolean>;
}

type Accepts = (output: Output) => boolean;
const any: Accepts = ({ carries }) => carries !== "faults";
const shownFiles: Accepts = (output) => any(output) && output.files !== "deep";
const clean: Accepts = (output) => any(output) && output.files === "none";
const image: Accepts = ({ carries }) => carries === "image";

/**
 * Links some of the available outputs to a port.
 * @returns the linked outputs
 */
const wire = (builder: Builder, node: string, port: string, from: readonly number[], accepts: Accepts): Output[] => {
  const choices = builder.outputs.filter(accepts);
  if (choices.length === 0) return [];
  const sources = [...new Set(from.map((at) => choices[at % choices.length]!))];
  for (const { node: source, port: sourceHandle } of sources)
    builder.graph.edges.push({ id: `e${builder.graph.edges.length}`, source, sourceHandle, target: node, targetHandle: port });
  return sources;
};

const filesIn = (outputs: readonly Output[]): Output["files"] =>
  (["deep", "plain"] as const).find((files) => outputs.some((one) => one.files === files)) ?? "none";
/** Files in the output of a node that passes its inputs on. */
const familyOf = (outputs: readonly Output[]): Output["carries"] => {
  const [first, ...others] = outputs;
  return first?.carries === "image" && others.every(({ carries }) => carries === "image") ? "image" : "value";
};

const QUICK = { latencyMs: 0 };
const WORDS = ["fox", "a kite over the sea", "12", "", "tree\nline", "[1, 2]", "true"];
const listOf = (size: number, choice: number): unknown[] =>
  Array.from({ length: size }, (_, index) => (choice % 3 === 0 ? index : `${WORDS[(choice + index) % WORDS.length]} ${index}`));

/** Adds a node. @returns its outputs */
type Maker = (builder: Builder, id: string, drawing: Drawn) => [Omit<GraphNode, "id">, ...Omit<Output, "node">[]];

const text = (port: string, files: Output["files"] = "none"): Omit<Output, "node"> => ({ port, carries: "text", files });
const picture = (port = "image"): Omit<Output, "node"> => ({ port, carries: "image", files: "plain" });

const few = ({ from }: Drawn): number[] => from.slice(0, 1 + (from[2]! % 2));
const skips = (choice: number): Record<string, unknown> => (choice % 2 === 0 ? { onItemError: "skip" } : {});

/**
 * Failures of a call, usually none.
 * @param other fallback model
 */
const troubles = (choice: number, model?: string, other?: string): Record<string, unknown> => {
  if (choice % 10 === 0 && other !== undefined)
    return { inputs: { sandbox: { ...QUICK, fail: "job", models: [model] } }, fallback: [other] };
  if (choice % 23 === 0) return { inputs: { sandbox: { ...QUICK, fail: "job" } } };
  if (choice % 37 === 0) return { inputs: { sandbox: { ...QUICK, fail: "incomplete" } } };
  return { inputs: { sandbox: QUICK } };
};

const switchCases = (choice: number): object[] => {
  const ops = [
    { op: "exists" },
    { op: "empty" },
    { op: "equals", right: "fox" },
    { op: "contains", right: "kite" },
    { op: "greater", right: "1" },
  ];
  const one = ops[choice % ops.length]!;
  return choice % 2 === 0
    ? [{ name: "yes", left: "{{a}}", ...one }]
    : [
        { name: "yes", left: "{{a}}", ...one },
        { name: "maybe", left: "{{a}}", op: "exists" },
      ];
};

const UNTILS = ["turns == `2`", "", "contains(to_string(text), 'kite')"];

const EXPRESSIONS = ["", "type(@)", "not_null(@, 'none')", "[0]", "{v: @}"];

/** Placeholder for the id of an uploaded picture. */
export const UPLOADED = "uploaded";
const UPLOAD: ReturnType<Maker> = [{ type: "media-upload", data: { mediaId: UPLOADED } }, picture("media")];

const MAKERS = {
  box: (builder, id, drawing) => {
    const { from, choice } = drawing;
    const off = choice % 9 === 0;
    const a = wire(builder, id, "a", off ? from.slice(0, 1) : few(drawing), off ? ({ carries }) => carries === "text" : shownFiles);
    const isPair = !off && choice % 3 === 0;
    const b = isPair ? wire(builder, id, "b", from.slice(3, 4), shownFiles) : [];
    const data = { text: isPair ? "{{a}} and {{b}}" : "{{a}}", ...(off && a.length > 0 ? { bypass: true } : {}) };
    return [{ type: "text-box", data }, text("text", filesIn([...a, ...b]) === "none" ? "none" : "plain")];
  },
  list: (builder, id, drawing) => {
    const into = wire(builder, id, "items", few(drawing), any);
    const { size, choice } = drawing;
    return [
      { type: "list", data: { items: choice % 4 === 0 ? [] : listOf(size, choice) } },
      { port: "items", carries: "value", files: filesIn(into) },
    ];
  },
  faults: (_builder, _id, { size }) => {
    const items = Array.from({ length: 1 + (size % 4) }, (_, index) => (index % 2 === 1 ? { ...QUICK, fail: "job" } : QUICK));
    return [
      { type: "list", data: { items } },
      { port: "items", carries: "faults", files: "none" },
    ];
  },
  json: (builder, id, drawing) => {
    // Most texts aren't JSON.
    const into = wire(builder, id, "value", few(drawing), drawing.choice % 8 === 0 ? any : ({ carries }) => carries === "value");
    const expression = EXPRESSIONS[drawing.choice % EXPRESSIONS.length]!;
    const files = filesIn(into);
    const outputFiles = expression === "{v: @}" && files !== "none" ? "deep" : expression === "type(@)" ? "none" : files;
    return [
      { type: "json", data: { expression, value: [1] } },
      { port: "value", carries: "value", files: outputFiles },
    ];
  },
  switch: (builder, id, drawing) => {
    const value = wire(builder, id, "value", few(drawing), any);
    wire(builder, id, "a", drawing.from.slice(2, 3), clean);
    const cases = switchCases(drawing.choice);
    const port = (name: string): Omit<Output, "node"> => ({ port: name, carries: familyOf(value), files: filesIn(value) });
    return [{ type: "switch", data: { cases } }, ...(cases as { name: string }[]).map(({ name }) => port(name)), port("else")];
  },
  approval: (builder, id, drawing) => {
    const value = wire(builder, id, "value", few(drawing), any);
    builder.decisions[id] = drawing.choice % 3 > 0;
    const port = (name: string): Omit<Output, "node"> => ({ port: name, carries: familyOf(value), files: filesIn(value) });
    return [{ type: "approval", data: {} }, port("approved"), port("rejected")];
  },
  chat: (builder, id, { from, choice }) => {
    wire(builder, id, "a", from.slice(0, 1), clean);
    const words = { type: "array", items: { type: "string" }, minItems: choice % 4, maxItems: choice % 4 };
    const schema = {
      type: "object",
      properties: { title: { type: "string" }, words },
      required: ["title", "words"],
      additionalProperties: false,
    };
    const isJson = choice % 3 === 0;
    const data = { model: "sandbox-chat", prompt: "say {{a}}", ...skips(choice), ...troubles(choice) };
    if (isJson) Object.assign(data, { schema });
    return [{ type: "llm-assistant", data }, text("text"), ...(isJson ? [{ port: "json", carries: "value", files: "none" } as const] : [])];
  },
  words: (builder, id, { from, choice }) => {
    const into = wire(builder, id, "value", from.slice(0, 1), ({ port, node }) => port === "json" && node.startsWith("n"));
    return [
      { type: "json", data: { expression: "words", value: { words: listOf(choice % 4, 1) } } },
      { port: "value", carries: "value", files: filesIn(into) },
    ];
  },
  picture: (builder, id, { from, choice, size }) => {
    const isFast = choice % 2 === 0;
    const [model, other] = isFast ? ["sandbox-image-fast", "sandbox-image"] : ["sandbox-image", "sandbox-image-fast"];
    const faults = choice % 4 === 0 ? wire(builder, id, "sandbox", from.slice(3, 4), ({ carries }) => carries === "faults") : [];
    // A node with lists whose length differs from the faults fails.
    if (faults.length === 0 || choice % 3 === 0) wire(builder, id, "a", from.slice(0, 1), shownFiles);
    const source = choice % 3 === 0 ? wire(builder, id, "image", from.slice(1, 2), image) : [];
    if (!isFast && choice % 5 === 0) wire(builder, id, "count", from.slice(2, 3), ({ carries }) => carries === "count");
    const off = source.length > 0 && size % 8 === 0 ? { bypass: true } : {};
    return [
      { type: "generate-image", data: { model, prompt: "draw {{a}}", ...skips(size), ...troubles(choice, model!, other!), ...off } },
      picture(),
    ];
  },
  speech: (builder, id, { from, choice }) => {
    wire(builder, id, "a", from.slice(0, 1), clean);
    return [
      { type: "generate-audio", data: { model: "sandbox-speech", prompt: "say {{a}}", ...skips(choice), inputs: { sandbox: QUICK } } },
      { port: "audio", carries: "value", files: "plain" },
    ];
  },
  http: (builder, id, { from, choice }) => {
    wire(builder, id, "a", from.slice(0, 1), clean);
    const extract = [undefined, "/items", "/x", "/missing"][choice % 4];
    const url = `http://${builder.origin}/items/${choice % 5}?x={{a}}`;
    return [
      { type: "http-request", data: { url, ...skips(choice), ...(extract ? { extract } : {}) } },
      { port: "body", carries: "value", files: "none" },
      { port: "status", carries: "value", files: "none" },
    ];
  },
  resize: (builder, id, { from, choice }) => {
    if (wire(builder, id, "image", from.slice(0, 1), image).length === 0) return UPLOAD;
    return [{ type: "media", data: { operation: "image-resize", width: 16, ...skips(choice) } }, picture()];
  },
  grid: (builder, id, drawing) => {
    if (wire(builder, id, "images", few(drawing), image).length === 0) return UPLOAD;
    return [{ type: "media", data: { operation: "image-grid" } }, picture()];
  },
  upload: () => UPLOAD,
  inner: (builder, id, { from, choice }) => {
    if (choice % 3 === 0) {
      wire(builder, id, "who", from.slice(0, 1), clean);
      wire(builder, id, "note", from.slice(1, 2), clean);
      return [{ type: "workflow", data: { slug: "letter" } }, text("text"), { port: "note", carries: "value", files: "none" }];
    }
    if (choice % 3 === 1) {
      wire(builder, id, "topic", from.slice(0, 1), clean);
      wire(builder, id, "extra", few({ from, choice, kind: "inner", size: 0 }), clean);
      return [{ type: "workflow", data: { slug: "writer", inputs: { topic: "rivers" } } }, text("text"), text("plain")];
    }
    wire(builder, id, "who", from.slice(0, 1), clean);
    wire(builder, id, "image", from.slice(1, 2), image);
    return [{ type: "workflow", data: { slug: "nested" } }, text("text"), picture()];
  },
  loop: (builder, id, { from, choice }) => {
    const shared = { count: 1 + (choice % 3), until: UNTILS[choice % UNTILS.length] };
    const turns = { port: "turns", carries: "value", files: "none" } as const;
    if (choice % 2 === 0) {
      wire(builder, id, "who", from.slice(0, 1), clean);
      wire(builder, id, "note", from.slice(1, 2), clean);
      const data = { slug: "letter", feedback: { text: "note" }, ...shared };
      return [{ type: "loop", data }, text("text"), { port: "note", carries: "value", files: "none" }, turns];
    }
    wire(builder, id, "topic", from.slice(0, 1), clean);
    wire(builder, id, "extra", from.slice(1, 2), clean);
    return [{ type: "loop", data: { slug: "writer", feedback: { text: "topic" }, ...shared } }, text("text"), text("plain"), turns];
  },
  note: () => [{ type: "note", data: { text: "nothing" } }],
} satisfies Record<string, Maker>;

interface DrawnField {
  type: keyof typeof FIELDS;
  /** The field's input is set, empty, null, omitted for its default, or absent. */
  presence: "given" | "empty" | "null" | "default" | "absent";
  size: number;
}

const FIELDS = {
  text: { value: (size: number) => WORDS[size % WORDS.length]!, empty: "", carries: "text", files: "none" },
  number: { value: (size: number) => 1 + (size % 3), empty: undefined, carries: "count", files: "none" },
  boolean: { value: (size: number) => size % 2 === 0, empty: false, carries: "value", files: "none" },
  select: { value: () => "fox", empty: undefined, carries: "text", files: "none" },
  image_upload: { value: () => UPLOADED, empty: undefined, carries: "image", files: "plain" },
  json: { value: (size: number) => (size % 4 === 0 ? { words: [size] } : listOf(size, size)), empty: [], carries: "value", files: "none" },
} as const;

const addField = (
  index: number,
  { type, presence, size }: DrawnField,
  inputs: Record<string, unknown>,
): { field: Field; output: Output } => {
  const { value, empty, carries, files } = FIELDS[type];
  const field: Field = { name: `f${index}`, type, ...(type === "select" ? { options: ["fox", "kite"] } : {}) };
  if (presence === "given") Object.assign(field, { required: size % 2 === 0 });
  // A default can't name a user's uploaded file.
  if (presence === "default" && type !== "image_upload") field.default = value(size);
  if (presence === "given") inputs[field.name] = value(size);
  if (presence === "empty" && empty !== undefined) inputs[field.name] = empty;
  if (presence === "null" && type === "json") inputs[field.name] = null;
  return { field, output: { node: "in", port: field.name, carries, files } };
};

interface DrawnGraph {
  fields: DrawnField[];
  nodes: Drawn[];
  results: number[];
  start: Start;
  isRerun: boolean;
}

export const build = ({ fields, nodes, results, ...how }: DrawnGraph, origin: string): RandomGraph => {
  const inputs: Record<string, unknown> = {};
  const declared = fields.map((field, index) => addField(index, field, inputs));
  const graph: Graph = { nodes: [{ id: "in", type: "request-input", data: { fields: declared.map(({ field }) => field) } }], edges: [] };
  const builder: Builder = { graph, origin, outputs: declared.map(({ output }) => output), decisions: {} };
  nodes.forEach((drawing, index) => {
    const id = `n${index}`;
    const [newNode, ...outputs] = (MAKERS[drawing.kind] as Maker)(builder, id, drawing);
    graph.nodes.push({ id, ...newNode });
    builder.outputs.push(...outputs.map((output) => ({ node: id, ...output })));
  });
  graph.nodes.push({ id: "out", type: "response-output", data: {} });
  results.forEach((at, index) => {
    const port = ["a", "b", "text", "images"][index % 4]!;
    wire(builder, "out", port, [at], port === "images" ? image : port === "text" ? clean : any);
  });
  return { graph: builder.graph, inputs, decisions: builder.decisions, ...how };
};

const KIND_NAMES = Object.keys(MAKERS) as (keyof typeof MAKERS)[];
const FIELD_TYPES = Object.keys(FIELDS) as (keyof typeof FIELDS)[];
const small = fc.nat(1_000);
const often = <T>(weight: number, usual: fc.Arbitrary<T>, rare: fc.Arbitrary<T>): fc.Arbitrary<T> =>
  fc.oneof({ weight, arbitrary: usual }, { weight: 1, arbitrary: rare });
/** The longest lists are at the limit. */
const size = often(9, fc.nat(4), fc.constantFrom(49, 50));

const node: fc.Arbitrary<Drawn> = fc.record({
  kind: fc.constantFrom(...KIND_NAMES),
  from: fc.array(small, { minLength: 4, maxLength: 4 }),
  size,
  choice: small,
});
const nodes = (maxLength: number): fc.Arbitrary<Drawn[]> => fc.array(node, { maxLength, size: "max" });

/** Graphs of 2 to 30 nodes, because interactions of two or three nodes reveal most faults. */
export const drawnGraphs: fc.Arbitrary<DrawnGraph> = fc.record({
  fields: fc.array(
    fc.record({ type: fc.constantFrom(...FIELD_TYPES), presence: fc.constantFrom("given", "empty", "null", "default", "absent"), size }),
    { minLength: 1, maxLength: 6 },
  ),
  nodes: often(9, nodes(6), nodes(28)),
  results: fc.array(small, { minLength: 1, maxLength: 6 }),
  start: often(7, fc.constantFrom("sync", "sync", "async"), fc.constant("batch")),
  isRerun: fc.nat(15).map((one) => one === 0),
});
