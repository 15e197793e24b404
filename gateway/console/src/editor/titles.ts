import type { Model } from "@nodeloom/client";
import { isRecord, labelOf, mediaOperation } from "@nodeloom/kernel/graph";
import { frameOf } from "../canvas/frames";
import { noteText } from "../canvas/geometry";
import { isRemark, kindOf } from "../canvas/kinds";
import { nodesOf, type DocGraph, type DocNode } from "../document/graph";
import { TITLES } from "../messages/editor/page";

/**
 * Title of a node: its own name, else its operation, else its kind. Several nodes of a graph can have it; `titleIn` returns unique titles.
 */
export const nodeTitle = (node: Pick<DocNode, "type" | "data">): string =>
  labelOf(node) ??
  (frameOf({ id: "", ...node }) ? noteText(node) || TITLES.frame : (mediaOperation(node.data.operation)?.title ?? kindOf(node.type).title));

/** Task of a node's model, for models with a single task. */
export type ModelTitle = (node: DocNode) => string | undefined;

/** A model without a prompt has a single task, and its name describes it: "Local Upscale ×4". */
export const modelTitles = (models: readonly Pick<Model, "internalName" | "displayName" | "inputSchema">[]): ModelTitle => {
  const names = new Map(
    models
      .filter(({ inputSchema }) => !isRecord(inputSchema.properties) || !Object.hasOwn(inputSchema.properties, "prompt"))
      .map(({ internalName, displayName }) => [internalName, displayName]),
  );
  return ({ data }) => (typeof data.model === "string" ? names.get(data.model) : undefined);
};

/** Unique titles by node id. If several nodes have a title, the later ones are numbered. Notes and frames keep their texts. */
export const titlesOf = (graph: DocGraph, modelTitle: ModelTitle): ReadonlyMap<string, string> => {
  const nodes = nodesOf(graph);
  const plain = nodes.map((node) => (labelOf(node) === undefined ? modelTitle(node) : undefined) ?? nodeTitle(node));
  const takenTitles = new Set(plain);
  const seenTitles = new Set<string>();
  const titles = new Map<string, string>();
  for (const [index, { id, type }] of nodes.entries()) {
    const base = plain[index]!;
    let title = base;
    for (let number = 2; !isRemark(type) && seenTitles.has(base) && takenTitles.has(title); number += 1) title = `${base} ${number}`;
    seenTitles.add(base);
    takenTitles.add(title);
    titles.set(id, title);
  }
  return titles;
};

interface WithTitles {
  scene: { store: { getState(): { titles: ReadonlyMap<string, string> } } };
}

/** A node's title in the open graph. */
export const titleIn = ({ scene }: WithTitles, node: DocNode): string => scene.store.getState().titles.get(node.id) ?? nodeTitle(node);
