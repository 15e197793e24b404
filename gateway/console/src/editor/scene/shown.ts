import { makesCalls } from "@nodeloom/kernel/graph";
import type { Floor } from "../../canvas/geometry";
import type { MediaFile } from "@nodeloom/client";
import { familyOfUrl, safeUrl } from "../../media/url";
import { kindOf, previewOf } from "../../canvas/kinds";
import { edgesOf, nodesOf, type DocGraph, type DocNode } from "../../document/graph";
import type { LiveRun, NodeProgress } from "../../runs/live";
import type { LatestOutput } from "../../runs/latest-outputs";
import { familyOfType } from "../../media/files-in";
import { madeIn, withWholes } from "../../runs/whole/parts";
import { itemsOf, type ShownItem } from "./shown-items";

/** Run state of a node on the canvas. */
export interface NodeRunView {
  /** Progress in the shown run; undefined without one. */
  progress: NodeProgress | undefined;
  /** Run that made the outputs, and its start; undefined without outputs. */
  executionId: string | undefined;
  at: string | null;
  /** True if the outputs are from an earlier run than the shown one. */
  isEarlier: boolean;
  /** True if the node's settings or inputs have changed since. */
  isOutdated: boolean;
  items: readonly ShownItem[];
  floor: Floor | undefined;
}

export const NOTHING_SHOWN: NodeRunView = {
  progress: undefined,
  executionId: undefined,
  at: null,
  isEarlier: false,
  isOutdated: false,
  items: [],
  floor: undefined,
};

const floorOf = (node: DocNode, items: readonly ShownItem[]): Floor | undefined => {
  const preview = previewOf(node.type);
  const [file] = items.flatMap((one) => one.file ?? []);
  const hasSomething = file !== undefined || items.some(({ status, text }) => text !== undefined || status === "processing");
  if (!hasSomething) return undefined;
  if (preview === "none") return file === undefined ? undefined : { preview: "picture", items: items.length };
  const isSound = file !== undefined && items.every((one) => one.file?.family === "audio");
  if (isSound) return { preview: "sound", items: items.length };
  return { preview: file !== undefined && preview === "text" ? "picture" : preview, items: items.length };
};

/** Nodes that only process values count as done once the next node starts, because their own event comes at the end. */
export const reachedNodes = (graph: DocGraph, nodes: ReadonlyMap<string, NodeProgress>): ReadonlyMap<string, NodeProgress> => {
  const next = new Map(nodes);
  const sources = new Map<string, string[]>();
  for (const { source, target } of edgesOf(graph)) sources.set(target, [...(sources.get(target) ?? []), source]);
  const startedIds = [...nodes.values()].filter(({ status }) => status !== "pending" && status !== "skipped").map(({ id }) => id);
  for (let id = startedIds.pop(); id !== undefined; id = startedIds.pop())
    for (const source of sources.get(id) ?? []) {
      const progress = next.get(source);
      if (progress?.status !== "pending" || makesCalls(progress.type)) continue;
      next.set(source, { ...progress, status: "completed" });
      startedIds.push(source);
    }
  return next;
};

/** Files of a file node before any run. */
const fileShown = (node: DocNode, files: ReadonlyMap<string, MediaFile>): NodeRunView | undefined => {
  const ids = kindOf(node.type).rules?.mediaIds?.(node) ?? [];
  const items = ids.flatMap((id, item): ShownItem[] => {
    const file = files.get(id);
    const url = file && safeUrl(file.url);
    if (!file || url === undefined) return [];
    const shownFile = { url, family: familyOfType(file.contentType) ?? familyOfUrl(url) };
    return [{ item, status: "completed", file: shownFile, text: undefined, creditsCost: 0, error: undefined }];
  });
  return items.length === 0 ? undefined : { ...NOTHING_SHOWN, executionId: ids[0]!, items, floor: floorOf(node, items) };
};

/** @param outdated returns true if a node has changed since a run */
const shownOf = (
  node: DocNode,
  run: LiveRun | undefined,
  progress: NodeProgress | undefined,
  latest: LatestOutput | undefined,
  outdated: (nodeId: string, executionId: string) => boolean,
): NodeRunView => {
  const earlierItems = latest && latest.executionId !== run?.executionId ? itemsOf(node, latest.node, latest.result) : [];
  const live = (run && progress ? itemsOf(node, progress, run.execution?.result) : []).map((one): ShownItem =>
    one.status === "processing" ? { ...one, earlier: earlierItems.find(({ item }) => item === one.item)?.file } : one,
  );
  if (run && live.length > 0) {
    const { executionId, execution } = run;
    const isOutdated = outdated(node.id, executionId);
    return {
      ...NOTHING_SHOWN,
      progress,
      executionId,
      at: execution?.createdAt ?? null,
      isOutdated,
      items: live,
      floor: floorOf(node, live),
    };
  }
  if (!latest || earlierItems.length === 0) return { ...NOTHING_SHOWN, progress };
  return {
    progress,
    executionId: latest.executionId,
    at: latest.at,
    isEarlier: true,
    isOutdated: outdated(node.id, latest.executionId),
    items: earlierItems,
    floor: floorOf(node, earlierItems),
  };
};

const sameFloor = (a: Floor | undefined, b: Floor | undefined): boolean => a?.preview === b?.preview && a?.items === b?.items;
const sameItem = (a: ShownItem, b: ShownItem | undefined): boolean =>
  b !== undefined &&
  a.status === b.status &&
  a.file?.url === b.file?.url &&
  a.earlier?.url === b.earlier?.url &&
  a.text === b.text &&
  a.creditsCost === b.creditsCost &&
  a.error === b.error;
const sameShown = (a: NodeRunView, b: NodeRunView): boolean =>
  a.progress === b.progress &&
  a.executionId === b.executionId &&
  a.at === b.at &&
  a.isEarlier === b.isEarlier &&
  a.isOutdated === b.isOutdated &&
  sameFloor(a.floor, b.floor) &&
  a.items.length === b.items.length &&
  a.items.every((item, index) => sameItem(item, b.items[index]));

export interface RunsOf {
  files: ReadonlyMap<string, MediaFile>;
  run: LiveRun | undefined;
  latestOutputs: ReadonlyMap<string, LatestOutput>;
  outdated: (nodeId: string, executionId: string) => boolean;
}

/** State of every node. Unchanged states keep their identity and aren't rendered. */
export const shownByNode = (
  graph: DocGraph,
  { run, latestOutputs, files, outdated }: RunsOf,
  before: ReadonlyMap<string, NodeRunView>,
): ReadonlyMap<string, NodeRunView> => {
  const reached = run ? reachedNodes(graph, withWholes(nodesOf(graph), run.nodes)) : undefined;
  return new Map(
    nodesOf(graph).map((node) => {
      const [id, earlier] = [node.id, before.get(node.id)];
      // Each inferred state is a new object.
      const inferred = reached?.get(id);
      const progress = earlier?.progress && inferred && sameProgress(earlier.progress, inferred) ? earlier.progress : inferred;
      const file = fileShown(node, files);
      const next = file ? { ...file, progress } : shownOf(node, run, progress, madeIn(node, latestOutputs), outdated);
      const shownNode = next.items.length === 0 && next.progress === undefined ? NOTHING_SHOWN : next;
      return [id, earlier && sameShown(earlier, shownNode) ? earlier : shownNode];
    }),
  );
};

const sameProgress = (a: NodeProgress, b: NodeProgress): boolean =>
  a === b ||
  (a.status === b.status &&
    a.itemsDone === b.itemsDone &&
    a.calls === b.calls &&
    a.outputs === b.outputs &&
    a.creditsCost === b.creditsCost &&
    a.durationMs === b.durationMs &&
    a.error === b.error &&
    a.items === b.items);
