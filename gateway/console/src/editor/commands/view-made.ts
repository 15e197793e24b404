import type { Execution } from "@nodeloom/client";
import { api, messageOf } from "../../api/client";
import { mediaIdOf, useFiles } from "../../api/files";
import { nodeById, type DocGraph, type DocNode } from "../../document/graph";
import { loadRanGraph } from "../../api/workflow-remote";
import { recipeOf } from "../../runs/recipe";
import { stateIn } from "../../runs/whole/parts";
import { addToView, closeViewer, replaceInView, useViewer, view, type ViewerItem, type ViewerSet } from "../../media/viewer/store";
import { credits, dateTime, duration } from "../../ui/format";
import { complain } from "../../ui/overlays/toast";
import { graphOf } from "../chosen";
import type { Editor } from "../context";
import { shownIn } from "../scene/scene";
import { filesShown, withPictures, type FilesOf } from "../scene/masked";
import { itemsOf, type ShownItem } from "../scene/shown-items";
import { nodeTitle } from "../titles";
import { placeBeside } from "./actions";
import { addFileNodes } from "./files";
import { COMMON } from "../../messages/common";
import { VIEW_MADE } from "../../messages/editor/commands";

/** Number of earlier runs loaded for the viewer. */
const OLDER_RUNS = 8;
const LISTED = 20;

const isMade = ({ file, text }: ShownItem): boolean => file !== undefined || text !== undefined;

interface Facts {
  facts: ViewerItem["facts"];
  prompt?: string | undefined;
  /** Text of this item only, such as one element of a list. */
  value?: string | undefined;
  seed?: string | undefined;
}

const MOST_TITLE = 80;
const shortened = (text: string): string => (text.length > MOST_TITLE ? `${text.slice(0, MOST_TITLE - 1)}…` : text);

const setOf = (
  node: DocNode,
  id: string,
  at: string | null,
  items: readonly ShownItem[],
  factsOf: (item: ShownItem) => Facts,
): ViewerSet => {
  const completedItems = items.filter(isMade);
  const title = nodeTitle(node);
  return {
    id,
    title: at === null ? title : `${title}, ${dateTime(at)}`,
    items: completedItems.map((item, index) => {
      const { value, ...facts } = factsOf(item);
      const numbered = completedItems.length > 1 ? `${title} ${index + 1}` : title;
      // Other calls can end later and be listed before this one.
      const inCall = completedItems.slice(0, index).filter((one) => one.item === item.item).length;
      return {
        id: `${id} ${item.item} ${inCall}`,
        file: item.file,
        text: item.text,
        title: value === undefined ? numbered : shortened(value),
        ...facts,
      };
    }),
  };
};

const nameOfModel = ({ models }: Editor, name: string): string =>
  models.find(({ internalName }) => internalName === name)?.displayName ?? name;

/** The node and its inputs at the time of a run, or the current ones if those are unknown. */
const ranWith = async (editor: Editor, node: DocNode, { executionId }: Execution): Promise<{ graph: DocGraph; then: DocNode }> => {
  const graph = await loadRanGraph(executionId).catch(() => undefined);
  const then = graph && nodeById(graph, node.id);
  return graph && then ? { graph, then } : { graph: graphOf(editor), then: node };
};

/** Outputs of a node in a run, with their origin. */
const setOfRun = async (editor: Editor, node: DocNode, execution: Execution): Promise<ViewerSet> => {
  const { graph, then } = await ranWith(editor, node, execution);
  const nodes = new Map(execution.nodes.map((one) => [one.id, one]));
  const progress = stateIn(node, nodes);
  if (!progress) return setOf(node, execution.executionId, execution.createdAt, [], () => ({ facts: [] }));
  const shownFiles = filesShown(editor.scene.store.getState().nodeViews);
  const filesOf: FilesOf = (id) => {
    const [one, state] = [nodeById(graph, id), nodes.get(id)];
    const files = one && state ? itemsOf(one, state, execution.result).flatMap(({ file }) => file ?? []) : [];
    return files.length > 0 ? files : shownFiles(id);
  };
  const items = withPictures(graph, filesOf, node.id, itemsOf(node, progress, execution.result));
  return setOf(node, execution.executionId, execution.createdAt, items, (item) => {
    const { model, prompt, value, settings } = recipeOf(graph, then, { nodes, inputs: execution.inputs }, item.item);
    const seed = settings.find(([name]) => name === "seed")?.[1];
    const facts: [string, string][] = [
      ...(model === undefined ? [] : [[COMMON.model, nameOfModel(editor, model)] as [string, string]]),
      ...(item.file?.format === undefined ? [] : [[COMMON.file, item.file.format] as [string, string]]),
      ...settings,
      ...(item.creditsCost > 0 ? [[COMMON.price, credits(item.creditsCost)] as [string, string]] : []),
      ...(progress.durationMs === null ? [] : [[VIEW_MADE.nodeTotal, duration(progress.durationMs)] as [string, string]]),
      ...(execution.createdAt === null ? [] : [[VIEW_MADE.run, dateTime(execution.createdAt)] as [string, string]]),
      ...(execution.version === null ? [] : [[COMMON.version, String(execution.version)] as [string, string]]),
    ];
    return { facts, prompt, value, seed };
  });
};

/** Adds an output as a file node beside its source node. */
const inputFrom =
  (editor: Editor, nodeId: string) =>
  async (item: ViewerItem): Promise<void> => {
    if (!item.file) return;
    try {
      const id = await mediaIdOf(item.file.url);
      closeViewer();
      addFileNodes(editor, [{ id, name: item.title }], placeBeside(editor, nodeId, "output"));
    } catch (error) {
      complain(messageOf(error));
    }
  };

/** Loads the viewed run, or shows the fallback, and then loads earlier ones while the viewer is open. */
const readRuns = async (editor: Editor, node: DocNode, executionId: string, fallback: ViewerSet): Promise<void> => {
  const isViewed = (): boolean => useViewer.getState().sets[0]?.id === executionId;
  const viewedRun = api.executions.get(executionId).then((execution) => setOfRun(editor, node, execution));
  replaceInView(await viewedRun.catch(() => fallback));
  const { rows } = await api.executions.list({ workflowSlug: editor.slug, limit: LISTED });
  const older = rows.slice(rows.findIndex((row) => row.executionId === executionId) + 1, LISTED);
  for (const row of older.slice(0, OLDER_RUNS)) {
    if (!isViewed()) return;
    const set = await setOfRun(editor, node, await api.executions.get(row.executionId));
    if (set.items.length > 0) addToView(executionId, [set]);
  }
};

/** Views a node's outputs, newest first. Earlier runs follow as they load. */
export const viewMade = (editor: Editor, nodeId: string, index: number): void => {
  const node = nodeById(graphOf(editor), nodeId);
  const { items, executionId, at } = shownIn(editor.scene.store.getState(), nodeId);
  if (!node || executionId === undefined) return;
  const pictured = withPictures(graphOf(editor), filesShown(editor.scene.store.getState().nodeViews), nodeId, items);
  const isRun = !useFiles.getState().files.has(executionId);
  const setWith = (facts: Facts["facts"]): ViewerSet => setOf(node, executionId, at, pictured, () => ({ facts }));
  const set = setWith(isRun ? undefined : []);
  if (set.items.length === 0) return;
  const before = items.slice(0, index).filter(isMade).length;
  const use = editor.canEdit ? (item: ViewerItem) => void inputFrom(editor, nodeId)(item) : undefined;
  view([set], { index: Math.min(before, set.items.length - 1), use });
  // If earlier runs can't be loaded, the viewed one stays.
  if (isRun) readRuns(editor, node, executionId, setWith([])).catch(() => undefined);
};
