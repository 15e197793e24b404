import { composeJson } from "../../../services/sandbox/src/chat-json";
import { composeReply } from "../../../services/sandbox/src/chat-text";
import type { GraphNode } from "./graph";
import { answerTo } from "./origin";
import { DEAD, filled, GAP, gathered, isFile, itemsOf, NodeFailure, spread, textOf, Unsuitable, whole, type Ports } from "./values";

/** Output of each node kind for its inputs, as documented. */

export interface World {
  inputs: Ports;
  /** Decisions by approval ID. */
  decisions: Readonly<Record<string, boolean>>;
  /** Number of calls so far in the whole run. */
  counted: { calls: number };
  runInner: (node: GraphNode, ports: Ports) => Ports;
  runLoop: (node: GraphNode, ports: Ports) => Ports;
}

type Outputs = Record<string, unknown>;
type Kind = (node: GraphNode, ports: Ports, world: World) => Outputs;

/** More calls would take too long for one of many graphs. */
const MOST_CALLS = 60;
const countCall = (world: World): void => {
  world.counted.calls += 1;
  if (world.counted.calls > MOST_CALLS) throw new Unsuitable("too many calls");
};

interface Fault {
  fail?: "job" | "incomplete";
  models?: string[];
}

/** Result of a call by the first model that succeeds. */
const madeBy = (node: GraphNode, item: Ports, makeValue: () => unknown): unknown => {
  const { model, fallback = [], inputs = {} } = node.data as { model: string; fallback?: string[]; inputs?: Record<string, unknown> };
  const { fail, models } = (item.sandbox ?? inputs.sandbox ?? {}) as Fault;
  const fails = (name: string): boolean => fail !== undefined && (models === undefined || models.includes(name));
  if (![model, ...fallback].every(fails)) return makeValue();
  throw new NodeFailure(fail === "incomplete" ? "PROVIDER_RESPONSE_INCOMPLETE" : "EXECUTION_FAILED");
};

/** Calls each item. If the node's settings say so and some calls succeed, failed ones are skipped. */
const callEach = (node: GraphNode, ports: Ports, world: World, call: (item: Ports) => unknown, lists: readonly string[] = []) => {
  const { items, isMapped } = itemsOf(ports, lists);
  const present = items.filter((item) => item !== GAP).length;
  const skips = node.data.onItemError === "skip" && present > 1;
  let failure: NodeFailure | undefined;
  const results = items.map((item) => {
    if (item === GAP) return GAP;
    countCall(world);
    try {
      return call(item);
    } catch (error) {
      if (!(error instanceof NodeFailure)) throw error;
      failure ??= error;
      if (skips) return GAP;
      throw error;
    }
  });
  if (failure && results.every((one) => one === GAP)) throw failure;
  return { results, isMapped };
};

const evaluateEach = (ports: Ports, evaluate: (item: Ports) => unknown): unknown => {
  const { items, isMapped } = itemsOf(ports);
  return gathered(
    items.map((item) => (item === GAP ? GAP : evaluate(item))),
    isMapped,
  );
};

const generator =
  (family: "image" | "audio"): Kind =>
  (node, ports, world) => {
    const literal = (node.data.inputs as { count?: number } | undefined)?.count ?? 1;
    const { results, isMapped } = callEach(node, ports, world, (item) =>
      madeBy(node, item, () => {
        const count = family === "image" && node.data.model === "sandbox-image" ? ((item.count ?? literal) as number) : 1;
        return count === 1 ? { file: family } : Array.from({ length: count }, () => ({ file: family }));
      }),
    );
    return { [family]: gathered(results, isMapped) };
  };

const assistant: Kind = (node, ports, world) => {
  const { prompt, schema } = node.data as { prompt: string; schema?: Record<string, unknown> };
  const { results, isMapped } = callEach(node, ports, world, (item) =>
    madeBy(node, item, () => {
      const question = filled(prompt, item);
      if (!schema) return { text: composeReply(question, [question, undefined]) };
      const text = composeJson(question, schema, [question, undefined]);
      return { text, json: JSON.parse(text) as unknown };
    }),
  );
  const of = (port: "text" | "json"): unknown =>
    gathered(
      results.map((one) => (one === GAP ? GAP : (one as Outputs)[port])),
      isMapped,
    );
  return { text: of("text"), ...(schema ? { json: of("json") } : {}) };
};

const http: Kind = (node, ports, world) => {
  const { url, extract } = node.data as { url: string; extract?: string };
  const { results, isMapped } = callEach(node, ports, world, (item) => {
    const answer: Outputs = { ...answerTo(new URL(filled(url, item, encodeURIComponent))) };
    return extract === undefined ? answer : (answer[extract.slice(1)] ?? null);
  });
  const body = isMapped ? results : results[0];
  return { body, status: isMapped ? results.map((one) => (one === GAP ? GAP : 200)) : 200 };
};

const media: Kind = (node, ports, world) => {
  const list = node.data.operation === "image-grid" ? ["images"] : [];
  const { results, isMapped } = callEach(
    node,
    ports,
    world,
    (item) => {
      const files = list.length > 0 ? spread([whole(item.images)]).filter((one) => one !== null) : item.image;
      if (Array.isArray(files) ? files.length === 0 : !isFile(files)) throw new NodeFailure();
      return { file: "image" };
    },
    list,
  );
  return { image: gathered(results, isMapped) };
};

const EXPRESSIONS: Readonly<Record<string, (value: unknown) => unknown>> = {
  "": (value) => value,
  "type(@)": (value) => (value === null ? "null" : Array.isArray(value) ? "array" : typeof value),
  "not_null(@, 'none')": (value) => value ?? "none",
  "[0]": (value) => (Array.isArray(value) ? ((value as unknown[])[0] ?? null) : null),
  "{v: @}": (value) => (value === null ? null : { v: value }),
  words: (value) => (value as { words?: unknown } | null)?.words ?? null,
};

const parsed = (text: string): unknown => {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    throw new NodeFailure();
  }
};

const json: Kind = ({ data }, ports) => {
  const input = whole(ports.value) ?? data.value ?? null;
  return { value: EXPRESSIONS[data.expression as string]!(typeof input === "string" ? parsed(input) : input) };
};

interface Case {
  name: string;
  left: string;
  op: string;
  right?: string;
}
const number = (value: unknown): number => (textOf(value).trim() === "" ? NaN : Number(textOf(value)));
const isEmpty = (value: unknown): boolean =>
  (value ?? "") === "" || (typeof value === "object" ? Object.keys(value as object).length === 0 : String(value as string).trim() === "");
const OPERATORS: Readonly<Record<string, (leftValue: unknown, right: string) => boolean>> = {
  exists: (leftValue) => (leftValue ?? "") !== "",
  empty: isEmpty,
  equals: (leftValue, right) => textOf(leftValue) === right,
  contains: (leftValue, right) =>
    Array.isArray(leftValue) ? leftValue.some((one) => textOf(one) === right) : textOf(leftValue).includes(right),
  greater: (leftValue, right) => number(leftValue) > number(right),
};

/** Ports of a node with several outputs: one has the value, the others are dead. */
const takes = (names: readonly string[], takenName: string, value: unknown): Outputs =>
  Object.fromEntries(names.map((name) => [name, name === takenName ? value : DEAD]));

const switched: Kind = ({ data }, ports) => {
  const cases = data.cases as Case[];
  // Every case compares one placeholder.
  const valueOf = ({ left }: Case): unknown => whole(ports[left.slice(2, -2)]);
  const branch = cases.find((one) => OPERATORS[one.op]!(valueOf(one), one.right ?? ""))?.name ?? "else";
  return takes([...cases.map(({ name }) => name), "else"], branch, ports.value ?? data.value ?? null);
};

export const KINDS: Readonly<Record<string, Kind>> = {
  "request-input": ({ data }, _ports, { inputs }) =>
    Object.fromEntries(
      (data.fields as { name: string; default?: unknown }[]).map(({ name, default: usual }) => [
        name,
        Object.hasOwn(inputs, name) ? inputs[name] : usual,
      ]),
    ),
  "text-box": ({ data }, ports) => ({ text: evaluateEach(ports, (item) => filled(data.text as string, item)) }),
  list: ({ data }, ports) => {
    const items = [...(data.items as unknown[]), ...("items" in ports ? spread([ports.items]) : [])];
    return { items };
  },
  json,
  switch: switched,
  approval: ({ id, data }, ports, { decisions }) =>
    takes(["approved", "rejected"], decisions[id] ? "approved" : "rejected", ports.value ?? data.value ?? null),
  "llm-assistant": assistant,
  "generate-image": generator("image"),
  "generate-audio": generator("audio"),
  "http-request": http,
  media,
  "media-upload": () => ({ media: { file: "image" } }),
  workflow: (node, ports, world) => world.runInner(node, ports),
  loop: (node, ports, world) => world.runLoop(node, ports),
};

/** Ends of loops, by expression. */
export const ENDS: Readonly<Record<string, (result: Ports, turn: number) => boolean>> = {
  "": () => false,
  "turns == `2`": (_result, turn) => turn === 2,
  "contains(to_string(text), 'kite')": ({ text = DEAD }) =>
    text !== DEAD && (typeof whole(text) === "string" ? (whole(text) as string) : JSON.stringify(whole(text) ?? null)).includes("kite"),
};

/** Members of a result, without ports that have no value. */
export const resultOf = (ports: Ports): Outputs =>
  Object.fromEntries(
    Object.entries(ports).flatMap(([name, input]): [string, unknown][] => {
      if (input === DEAD) return [];
      const value = whole(input);
      if (name === "images") return [[name, spread([value]).filter(isFile)]];
      return [[name, name === "text" ? textOf(value) : (value ?? null)]];
    }),
  );
