import { findingInWords, distinct, finding, type Finding } from "../../issues";
import { parseExpression, rootNames } from "../jmespath";
import { GOES_ON_PORT, loopSettings, TURNS_PORT, type LoopSettings } from "../kinds/loop";
import { didYouMean } from "../../text/nearest-name";
import { innerId, turnId, type Graph, type GraphEdge, type GraphNode, type PortType } from "../types";
import { shownName } from "../../text/shown-name";
import { FLOWS, portTypeName } from "../wiring/ports";
import { beginAt, type End } from "../wiring/ends";
import {
  choices,
  endsOf,
  fieldTypes,
  flowProblems,
  flowsOf,
  innerEdges,
  innerNodes,
  inputFieldsOf,
  keptNodes,
  literalsOf,
  memberEdges,
  outputTypeOf,
  type Flows,
  type InlineGraph,
} from "./inner";

/**
 * Replaces a loop with the nodes of its turns, up to its bound. A node at the end of each turn decides whether the loop goes on: only then
 * do the nodes of the next turn run, otherwise the results of the turn are those of the loop.
 */

const unknownName = (setting: string, what: "input" | "output", name: string, names: readonly string[]): Finding => {
  const list = names.length === 0 ? "it has none" : `it has ${choices(names)}`;
  const suggestion = didYouMean(name, names);
  return findingInWords("SETTING_INVALID", `${setting}: the workflow has no ${what} ${shownName(name)}; ${list}${suggestion}`, setting);
};

/** Names in `until` and `feedback` that the inner workflow doesn't have, and types that don't fit. */
const nameProblems = ({ until, feedback }: LoopSettings, node: GraphNode, inner: Graph, members: ReadonlyMap<string, PortType>) => {
  const fields = fieldTypes(inner);
  const outputs = [...members.keys()];
  const names = until === "" ? [] : rootNames(parseExpression(until));
  return [
    ...names.flatMap((name) => (members.has(name) || name === TURNS_PORT ? [] : [unknownName("until", "output", name, outputs)])),
    ...[...feedback].flatMap(([output, input]): Finding[] => {
      const [gives, takes] = [members.get(output), fields.get(input)];
      const path = `feedback.${shownName(output)}`;
      if (gives === undefined) return [unknownName("feedback", "output", output, outputs)];
      if (takes === undefined) return [unknownName(path, "input", input, [...fields.keys()])];
      if (FLOWS[gives][takes] !== "refused") return [];
      const [from, to] = [`${node.id}.${shownName(output)}`, `${node.id}.${shownName(input)}`];
      return [finding("TYPE_MISMATCH", { from, gives: portTypeName(gives), to, takes: portTypeName(takes) })];
    }),
  ];
};

/** Types of the result members. */
const memberTypes = (inner: Graph, edges: ReadonlyMap<string, readonly GraphEdge[]>): Map<string, PortType> =>
  new Map(
    [...edges].map(([name, into]): [string, PortType] => {
      const [type, ...others] = new Set(into.map((edge) => outputTypeOf(inner, edge) ?? "any"));
      return [name, type === undefined || others.length > 0 ? "any" : type];
    }),
  );

const edgesInto = (target: string, ends: ReadonlyMap<string, readonly End[]>): GraphEdge[] =>
  [...ends].flatMap(([name, all]) =>
    beginAt({ id: innerId(target, name), source: "", sourceHandle: null, target, targetHandle: name }, all),
  );

/** Number of nodes that a loop adds to a graph. @returns 0 if a setting is invalid */
export const nodesOfTurns = (node: GraphNode, inner: Graph): number => {
  const settings = loopSettings(node);
  return settings === undefined ? 0 : settings.count * (keptNodes(inner) + 1);
};

/** @returns undefined if a setting is invalid; the node then stays and is reported */
export const inlineTurns = (outer: InlineGraph, node: GraphNode, inner: InlineGraph): InlineGraph | undefined => {
  const settings = loopSettings(node);
  if (!settings) return undefined;
  const { count, until, feedback } = settings;
  const fields = inputFieldsOf(inner);
  const flows = flowsOf(outer, node, fields);
  const results = memberEdges(inner);
  results.delete(GOES_ON_PORT);
  const types = memberTypes(inner, results);
  const issues: Finding[] = [...flowProblems(outer, inner, node, flows), ...nameProblems(settings, node, inner, types)];
  const nodes: GraphNode[] = [];
  const edges: GraphEdge[] = [];
  const { label } = node.data;
  const first = turnId(node.id, 1);
  /** Adds the node that starts the loop or ends a turn. */
  const addGate = (number: number, ends: ReadonlyMap<string, readonly End[]>, of: readonly GraphNode[], gate: string | undefined) => {
    const id = turnId(node.id, number);
    const ports = number === 0 ? new Map([...ends.keys()].map((name): [string, PortType] => [name, "any"])) : types;
    const turn = { number, count, until, ports, nodes: of.map((one) => one.id) };
    const repeats = number > 1 ? { original: first } : {};
    nodes.push({
      id,
      type: node.type,
      data: label === undefined ? {} : { label },
      turn,
      ...repeats,
      ...(gate === undefined ? {} : { gate }),
    });
    edges.push(...edgesInto(id, ends));
    return id;
  };
  // The loop starts only if its connected inputs have values.
  let gate = flows.size === 0 ? undefined : addGate(0, flows, [], undefined);
  let turnFlows: Flows = flows;
  for (let number = 1; number <= count; number += 1) {
    const id = turnId(node.id, number);
    const { values, problems, otherwise } = literalsOf(node, fields, turnFlows);
    if (number === 1) issues.push(...problems);
    const ends = endsOf(id, inner, turnFlows, otherwise);
    const own = innerNodes(id, inner, values).map((one): GraphNode => ({
      ...one,
      ...(one.gate === undefined && gate !== undefined ? { gate } : {}),
      ...(number > 1 ? { original: one.original?.replace(id, first) ?? one.id.replace(id, first) } : {}),
    }));
    nodes.push(...own);
    edges.push(...innerEdges(id, inner, ends));
    const members = new Map([...results].map(([name, into]) => [name, into.flatMap((edge) => beginAt(edge, ends(edge)))]));
    gate = addGate(number, members, own, gate);
    const feedbackFlows = [...feedback].map(([output, input]): [string, GraphEdge[]] => [input, members.get(output) ?? []]);
    turnFlows = new Map([...flows, ...feedbackFlows.filter(([, all]) => all.length > 0)]);
  }
  const lasts = Array.from({ length: count }, (_, index) => index + 1).slice(until === "" ? -1 : 0);
  const outerEdges = outer.edges.flatMap((edge): GraphEdge[] => {
    if (edge.target === node.id) return [];
    if (edge.source !== node.id) return [edge];
    const name = edge.sourceHandle ?? [...results.keys()][0] ?? "";
    if (!results.has(name) && name !== TURNS_PORT)
      issues.push(
        finding("UNKNOWN_OUTPUT", {
          ...{ node: node.id, name: shownName(name), edge: shownName(edge.id) },
          choices: choices([...results.keys(), TURNS_PORT]),
        }),
      );
    return beginAt(
      edge,
      lasts.map((number) => ({ source: turnId(node.id, number), sourceHandle: name, isOneOf: true })),
    );
  });
  return {
    nodes: outer.nodes.flatMap((one) => (one === node ? nodes : [one])),
    edges: [...outerEdges, ...edges],
    issues: [
      ...outer.issues,
      ...distinct(issues).map((nodeFinding) => ({ nodeId: node.id, ...nodeFinding })),
      ...inner.issues.map((issue) => ({ ...issue, nodeId: issue.nodeId === null ? node.id : innerId(first, issue.nodeId) })),
    ],
  };
};
