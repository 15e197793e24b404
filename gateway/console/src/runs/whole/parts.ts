import { create } from "zustand";
import { api } from "../../api/client";
import type { DocNode } from "../../document/graph";
import type { NodeProgress } from "../live";
import type { LatestOutput } from "../latest-outputs";
import { innerNodes, isWhole, wholeOf, type ResultPart } from "./whole";

/** Result members of workflows by slug, as loaded by this page. */
export const useParts = create<{ parts: ReadonlyMap<string, readonly ResultPart[]> }>(() => ({ parts: new Map() }));

const askedSlugs = new Set<string>();
const NONE: readonly ResultPart[] = [];
const slugOf = ({ type, data: { slug } }: Pick<DocNode, "type" | "data">): string | undefined =>
  isWhole(type) && typeof slug === "string" && slug !== "" ? slug : undefined;

/** Loads the workflows of workflow nodes, each once. Unreadable workflows stay unknown. */
export const lookUpParts = async (nodes: readonly DocNode[]): Promise<void> => {
  const slugs = [...new Set(nodes.flatMap((node) => slugOf(node) ?? []))].filter((slug) => !askedSlugs.has(slug));
  for (const slug of slugs) {
    askedSlugs.add(slug);
    const workflow = await api.workflows.get(slug).catch(() => undefined);
    if (!workflow) continue;
    // Loaded lazily, because few canvases have such a node.
    const { resultParts } = await import("./result-parts");
    useParts.setState(({ parts }) => ({ parts: new Map(parts).set(slug, resultParts(workflow.nodes, workflow.edges)) }));
  }
};

const partsOf = (node: DocNode): readonly ResultPart[] => useParts.getState().parts.get(slugOf(node) ?? "") ?? NONE;

/** State of a canvas node in a run; workflow nodes combine their inner nodes. */
export const stateIn = (node: DocNode, nodes: ReadonlyMap<string, NodeProgress>): NodeProgress | undefined =>
  nodes.get(node.id) ?? (isWhole(node.type) ? wholeOf(node.id, innerNodes(nodes.values(), node.id), partsOf(node)) : undefined);

/** Nodes of a run, including combined workflow nodes. */
export const withWholes = (graph: readonly DocNode[], nodes: ReadonlyMap<string, NodeProgress>): ReadonlyMap<string, NodeProgress> => {
  const wholes = graph.flatMap((node) => (isWhole(node.type) ? [stateIn(node, nodes)] : [])).filter((whole) => whole !== undefined);
  return wholes.length === 0 ? nodes : new Map([...nodes, ...wholes.map((whole): [string, NodeProgress] => [whole.id, whole])]);
};

/** Latest output of a node. For workflow nodes, it is from the newest run in which an inner node has one. */
export const madeIn = (node: DocNode, latestOutputs: ReadonlyMap<string, LatestOutput>): LatestOutput | undefined => {
  if (!isWhole(node.type)) return latestOutputs.get(node.id);
  const inner = [...latestOutputs.values()].filter((one) => one.node.id.startsWith(`${node.id}/`));
  const [newest] = inner.toSorted((a, b) => (b.at ?? "").localeCompare(a.at ?? ""));
  if (!newest) return undefined;
  const own = inner.filter(({ executionId }) => executionId === newest.executionId).map((one) => one.node);
  const whole = wholeOf(node.id, own, partsOf(node));
  return whole && { ...newest, node: whole };
};
