import { modelsInOrder } from "../../api/model-order";
import { freePlace, roomAfter, type Rect } from "../../canvas/rects";
import type { Kind } from "../../canvas/kinds";
import { fittingInputs, fittingOutputs, portsOf, sourcePort, targetPort, type NodePorts, type Port } from "../../canvas/ports";
import { addNode, connect, freeId, moveNodes, type Point } from "../../document/edit";
import {
  edgesOf,
  followersOf,
  newNodeText,
  nodeById,
  nodesOf,
  readNode,
  type DocEdge,
  type DocGraph,
  type DocNode,
} from "../../document/graph";
import { graphOf, roomsOf } from "../chosen";
import type { Editor } from "../context";
import type { PaletteRequest } from "../ui-store";
import { BESIDE, endsBetween, NEW_SIZE, replacedBy, sayReplaced } from "./actions";
import { NEW_NODES } from "../../messages/editor/commands";

/** Adds nodes from the palette with data, position and links. */

/** Models for a new node of a modality, best first. */
const modelsFor = ({ models, me }: Editor, modality: string | undefined): readonly string[] =>
  modelsInOrder(models, me.user)
    .filter((model) => model.modality === modality)
    .map(({ internalName }) => internalName);

export const defaultModel = (editor: Editor, modality: string | undefined): string | undefined => modelsFor(editor, modality)[0];

interface Ends {
  output: Port;
  input: Port;
}

const linkById = (graph: DocGraph, id: string | undefined): DocEdge | undefined => edgesOf(graph).find((edge) => edge.id === id);

const portsOfLink = (editor: Editor, edge: DocEdge): Ends | undefined => {
  const { ports } = editor.scene.store.getState();
  const [source, target] = [ports.get(edge.source), ports.get(edge.target)];
  const output = source?.outputs.find(({ name }) => name === sourcePort(edge, source));
  const input = target?.inputs.find(({ name }) => name === targetPort(edge, target));
  return output && input && { output, input };
};

/** Port that feeds the new node. */
const feederOf = (editor: Editor, { from, edgeId }: PaletteRequest): Port | undefined => {
  if (from) return from.side === "output" ? from.port : undefined;
  const edge = linkById(graphOf(editor), edgeId);
  return edge && portsOfLink(editor, edge)?.output;
};

const newNode = (kind: Kind, data: object): DocNode => readNode(newNodeText("\u0001new", kind.type, { x: 0, y: 0 }, data))!;

/** Data of a new node, with the first model that accepts its input. */
const newData = (editor: Editor, kind: Kind, request: PaletteRequest, model?: string): Record<string, unknown> => {
  const feeder = feederOf(editor, request);
  const data = kind.data(feeder?.name);
  if (kind.modality === undefined) return data;
  const models = modelsFor(editor, kind.modality);
  const takes = (name: string): boolean =>
    feeder === undefined || fittingInputs(feeder, portsOf(newNode(kind, { model: name, ...data }), editor, [], []), new Set()).length > 0;
  const chosenModel = model ?? models.find(takes) ?? models[0];
  return chosenModel === undefined ? data : { model: chosenModel, ...data };
};

/** Ports through which a node can be inserted into a link. */
const entryAndExit = ({ output, input }: Ends, own: NodePorts): { entry: Port; exit: Port } | undefined => {
  const [[entry], [exit]] = [fittingInputs(output, own, new Set()), fittingOutputs(input, own)];
  return entry && exit && { entry, exit };
};

/** True if a new node of this kind can be linked as requested. */
export const suits = (editor: Editor, kind: Kind, request: PaletteRequest): boolean => {
  const { from, edgeId } = request;
  if (!from && edgeId === undefined) return true;
  const node = newNode(kind, newData(editor, kind, request));
  if (from) return endsBetween(editor, graphOf(editor), from, node) !== undefined;
  const edge = linkById(graphOf(editor), edgeId);
  const ends = edge && portsOfLink(editor, edge);
  return ends !== undefined && entryAndExit(ends, portsOf(node, editor, [], [])) !== undefined;
};

const insertInto = (editor: Editor, graph: DocGraph, edge: DocEdge, node: DocNode): DocGraph => {
  const ends = portsOfLink(editor, edge);
  const portPair = ends && entryAndExit(ends, portsOf(node, editor, [], []));
  if (!portPair) return graph;
  const into = { source: edge.source, sourceHandle: ends.output.name, target: node.id, targetHandle: portPair.entry.name };
  const out = { source: node.id, sourceHandle: portPair.exit.name, target: edge.target, targetHandle: ends.input.name };
  return connect(connect(graph, into), out, [edge.id]);
};

/** Position of a new node, and new positions of nodes that make room for it. */
const placeFor = (editor: Editor, graph: DocGraph, request: PaletteRequest): { at: Point; moved: ReadonlyMap<string, Point> } => {
  const rects: ReadonlyMap<string, Rect> = roomsOf(editor, nodesOf(graph));
  const edge = linkById(graph, request.edgeId);
  const [source, target] = [edge && rects.get(edge.source), edge && rects.get(edge.target)];
  if (!edge || !source || !target) return { at: freePlace(request.place, NEW_SIZE, [...rects.values()]), moved: new Map() };
  const room = roomAfter(source, target, NEW_SIZE, BESIDE);
  const followers = followersOf(graph, edge.target);
  const moved = new Map<string, Point>();
  for (const [id, { x, y }] of rects) if (room.by > 0 && followers.has(id) && x >= target.x) moved.set(id, { x: x + room.by, y });
  const takenRects = [...rects].map(([id, rect]) => ({ ...rect, ...moved.get(id) }));
  return { at: freePlace(room.at ?? request.place, NEW_SIZE, takenRects), moved };
};

/** Adds a node at the palette's position, linked as requested. */
export const addFromPalette = (editor: Editor, kind: Kind, request: PaletteRequest, model?: string): void => {
  const graph = graphOf(editor);
  const id = freeId(graph, kind.id);
  const data = newData(editor, kind, request, model);
  const { at, moved } = placeFor(editor, graph, request);
  const edge = linkById(graph, request.edgeId);
  let replaced: readonly string[] = [];
  editor.document.change(
    NEW_NODES.add(kind.title),
    (now) => {
      const added = moveNodes(addNode(now, { id, type: kind.type, at, data }), moved);
      const node = nodeById(added, id)!;
      if (edge) return insertInto(editor, added, edge, node);
      const connection = request.from && endsBetween(editor, added, request.from, node);
      if (!connection) return added;
      replaced = replacedBy(added, connection.ends, connection.input);
      return connect(added, connection.ends, replaced);
    },
    { select: [id] },
  );
  sayReplaced(editor, graph, replaced);
  editor.ui.setState(({ fresh }) => ({ palette: undefined, panel: "node", reveal: id, fresh: new Set(fresh).add(id) }));
};
