import { callsModel } from "@nodeloom/kernel/graph";
import { around, freePlace, type Alignment, align } from "../../../canvas/geometry";
import { isRemark, kindOf, type Kind } from "../../../canvas/kinds";
import { layOut } from "../../../canvas/layout";
import { fits, fittingInputs, fittingOutputs, portsOf, sourcePort, targetPort, type Port } from "../../../canvas/ports";
import { partText, readPart } from "../../../document/clipboard";
import {
  addNode,
  connect,
  copyInto,
  freeId,
  moveNodes,
  partOf,
  removeBridging,
  removeItems,
  type Ends,
  type Point,
} from "../../../document/edit";
import { edgesOf, nodeById, nodesOf, readNode, newNodeText, type DocGraph, type DocNode } from "../../../document/graph";
import { complain, say } from "../../../ui/overlays/toast";
import { graphOf, rectsOf, selectedNodes } from "../chosen";
import type { Editor } from "../context";
import { withFrameContents } from "./frame-actions";
import { nodeTitle } from "../titles";
import type { LinkStart, PaletteRequest } from "../ui-store";

/** Everything that can be done to the graph from the canvas, the palette and commands. */
/** The model a new node gets: the first enabled one of its modality that the caller's tier may run. */
export const defaultModel = ({ models, me }: Editor, modality: string | undefined): string | undefined => {
  const tiers = ["free", "pro", "business", "enterprise"];
  const level = me.user.role === "admin" ? tiers.length : tiers.indexOf(me.user.tier);
  const fitting = models.filter((model) => model.enabled && model.modality === modality);
  return (fitting.find(({ minTier }) => level < 0 || tiers.indexOf(minTier) <= level) ?? fitting[0])?.internalName;
};

export const newData = (editor: Editor, kind: Kind, model?: string): Record<string, unknown> => {
  const chosen = kind.modality === undefined ? undefined : (model ?? defaultModel(editor, kind.modality));
  return chosen === undefined ? kind.data() : { model: chosen, ...kind.data() };
};

/** A node of a kind before it is added: to see which ports it would have. */
export const sampleNode = (editor: Editor, kind: Kind, model?: string): DocNode =>
  readNode(newNodeText("\u0001new", kind.type, { x: 0, y: 0 }, newData(editor, kind, model)))!;

/** Edges that make place where a port takes one value. */
export const replacedBy = (graph: DocGraph, ends: Ends, input: Port | undefined): string[] =>
  input?.list === true
    ? []
    : edgesOf(graph)
        .filter((edge) => edge.target === ends.target && edge.targetHandle === ends.targetHandle)
        .map(({ id }) => id);

const usedInputs = (graph: DocGraph, id: string): ReadonlySet<string> =>
  new Set(edgesOf(graph).flatMap((edge) => (edge.target === id && edge.targetHandle !== null ? [edge.targetHandle] : [])));

/** Whether a path leads from one node to another. */
export const leadsTo = (graph: DocGraph, from: string, to: string): boolean => {
  const next = new Map<string, string[]>();
  for (const { source, target } of edgesOf(graph)) next.set(source, [...(next.get(source) ?? []), target]);
  const [open, seen] = [[from], new Set<string>()];
  for (let at = open.pop(); at !== undefined; at = open.pop()) {
    if (at === to) return true;
    if (seen.has(at)) continue;
    seen.add(at);
    open.push(...(next.get(at) ?? []));
  }
  return false;
};

/** Both ends of a link between a start and a node: the best fitting free port; undefined when nothing fits. */
export const endsBetween = (editor: Editor, graph: DocGraph, start: LinkStart, node: DocNode): { ends: Ends; input: Port } | undefined => {
  const ports = editor.ui.getState().ports.get(node.id) ?? portsOf(node, editor.schemaOf, [], []);
  if (start.side === "output") {
    const [input] = fittingInputs(start.port, ports, usedInputs(graph, node.id));
    const ends = input && { source: start.nodeId, sourceHandle: start.port.name, target: node.id, targetHandle: input.name };
    return ends && { ends, input };
  }
  const [output] = fittingOutputs(start.port, ports);
  const ends = output && { source: node.id, sourceHandle: output.name, target: start.nodeId, targetHandle: start.port.name };
  return ends && { ends, input: start.port };
};

/** Links a start with a node's best fitting port. @returns whether one fits */
export const linkToNode = (editor: Editor, start: LinkStart, nodeId: string): boolean => {
  const graph = graphOf(editor);
  const node = nodeById(graph, nodeId);
  if (!node || nodeId === start.nodeId) return false;
  const [from, to] = start.side === "output" ? [nodeId, start.nodeId] : [start.nodeId, nodeId];
  const found = endsBetween(editor, graph, start, node);
  if (!found || leadsTo(graph, from, to)) {
    complain(found ? "That would make a circle: a run could never end." : `Nothing on “${nodeTitle(node)}” takes ${start.port.type}.`);
    return false;
  }
  const { ends, input } = found;
  editor.document.change("Connect", (now) => connect(now, ends, replacedBy(now, ends, input)));
  return true;
};

const NEW_SIZE = { width: 248, height: 170 };
const BESIDE = 90;

/** Adds a node where the palette was opened, linked as it asks. */
export const addFromPalette = (editor: Editor, kind: Kind, request: PaletteRequest, model?: string): void => {
  const graph = graphOf(editor);
  const id = freeId(graph, kind.id);
  const data = newData(editor, kind, model);
  const place = freePlace(request.place, NEW_SIZE, [...rectsOf(editor, nodesOf(graph)).values()]);
  const edge = edgesOf(graph).find((one) => one.id === request.edgeId);
  editor.document.change(
    `Add ${kind.title}`,
    (now) => {
      const added = addNode(now, { id, type: kind.type, at: place, data });
      const node = nodeById(added, id)!;
      if (edge) return insertInto(editor, added, edge.id, node);
      const found = request.from && endsBetween(editor, added, request.from, node);
      return found ? connect(added, found.ends, replacedBy(added, found.ends, found.input)) : added;
    },
    { select: [id] },
  );
  editor.ui.setState({ palette: undefined, panel: "node" });
};

/** Puts a node into an edge: what flowed through it flows through the node. */
const insertInto = (editor: Editor, graph: DocGraph, edgeId: string, node: DocNode): DocGraph => {
  const edge = edgesOf(graph).find((one) => one.id === edgeId);
  if (!edge) return graph;
  const { ports } = editor.ui.getState();
  const own = portsOf(node, editor.schemaOf, [], []);
  const [outName, inName] = [sourcePort(edge, ports.get(edge.source)), targetPort(edge, ports.get(edge.target))];
  const output = ports.get(edge.source)?.outputs.find(({ name }) => name === outName);
  const input = ports.get(edge.target)?.inputs.find(({ name }) => name === inName);
  const [entry] = output ? fittingInputs(output, own, new Set()) : [];
  const [exit] = input ? fittingOutputs(input, own) : [];
  const joined = entry ? connect(graph, { source: edge.source, sourceHandle: outName, target: node.id, targetHandle: entry.name }) : graph;
  return exit
    ? connect(joined, { source: node.id, sourceHandle: exit.name, target: edge.target, targetHandle: inName }, [edge.id])
    : joined;
};

/** Whether a new node of this kind could be linked as the palette asks. */
export const suits = (editor: Editor, kind: Kind, { from, edgeId }: PaletteRequest, model?: string): boolean => {
  if (!from && edgeId === undefined) return true;
  const graph = graphOf(editor);
  const node = sampleNode(editor, kind, model);
  if (from) return endsBetween(editor, graph, from, node) !== undefined;
  const edge = edgesOf(graph).find(({ id }) => id === edgeId);
  const own = portsOf(node, editor.schemaOf, [], []);
  const ports = editor.ui.getState().ports;
  const output = edge && ports.get(edge.source)?.outputs.find(({ name }) => name === sourcePort(edge, ports.get(edge.source)));
  const input = edge && ports.get(edge.target)?.inputs.find(({ name }) => name === targetPort(edge, ports.get(edge.target)));
  return (
    output !== undefined && input !== undefined && fittingInputs(output, own, new Set()).length > 0 && fittingOutputs(input, own).length > 0
  );
};

const some = (count: number, what: string): string => (count === 1 ? what : `${count} ${what}s`);

export const deleteSelection = (editor: Editor): void => {
  const { selection } = editor.document.store.getState();
  const [nodes, edges] = [[...selection.nodes], [...selection.edges]];
  if (nodes.length + edges.length === 0) return;
  editor.document.change(`Delete ${nodes.length > 0 ? some(nodes.length, "node") : some(edges.length, "link")}`, (graph) =>
    removeItems(graph, nodes, edges),
  );
};

/** Deletes the chosen node and joins what it stood between. */
export const deleteBridging = (editor: Editor): void => {
  const [node] = selectedNodes(editor);
  if (!node) return;
  const { ports } = editor.ui.getState();
  editor.document.change("Delete and join", (graph) =>
    removeBridging(graph, node.id, ({ source, sourceHandle, target, targetHandle }) => {
      const output = ports.get(source)?.outputs.find(({ name }) => name === sourceHandle);
      const input = ports.get(target)?.inputs.find(({ name }) => name === targetHandle);
      return output !== undefined && input !== undefined && fits(output, input);
    }),
  );
};

export const copySelection = async (editor: Editor): Promise<boolean> => {
  const { graph, selection } = editor.document.store.getState();
  if (selection.nodes.size === 0) return false;
  try {
    await navigator.clipboard.writeText(partText(partOf(graph, selection.nodes)));
    say(`Copied ${some(selection.nodes.size, "node")}.`);
    return true;
  } catch {
    complain("The browser does not let this page write to the clipboard.");
    return false;
  }
};

/** Puts nodes of a clipboard's text where the middle of the board is, or a little beside where they came from. */
export const pasteText = (editor: Editor, text: string, middle: Point): void => {
  const part = readPart(text);
  if ("problem" in part) return complain(part.problem);
  const frame = around(part.nodes.map(({ x, y }) => ({ x, y, ...NEW_SIZE })))!;
  const offset = { x: middle.x - frame.x - frame.width / 2, y: middle.y - frame.y - frame.height / 2 };
  insertPart(editor, part, offset, `Paste ${some(part.nodes.length, "node")}`);
};

const DUPLICATE_OFFSET = 40;

const insertPart = (editor: Editor, part: Parameters<typeof copyInto>[1], offset: Point, label: string): void => {
  const { graph, ids } = copyInto(graphOf(editor), part, offset);
  editor.document.change(label, () => graph, { select: ids });
};

export const duplicateSelection = (editor: Editor): void => {
  const { graph, selection } = editor.document.store.getState();
  if (selection.nodes.size === 0) return;
  const offset = { x: DUPLICATE_OFFSET, y: DUPLICATE_OFFSET };
  insertPart(editor, partOf(graph, selection.nodes), offset, `Duplicate ${some(selection.nodes.size, "node")}`);
};

export const selectAll = (editor: Editor): void => editor.document.select(nodesOf(graphOf(editor)).map(({ id }) => id));

export const nudge = (editor: Editor, by: Point): void => {
  const nodes = withFrameContents(editor, selectedNodes(editor));
  const places = new Map(nodes.map(({ id, x, y }) => [id, { x: x + by.x, y: y + by.y }]));
  editor.document.change(`Move ${some(nodes.length, "node")}`, (graph) => moveNodes(graph, places), { key: "nudge" });
};

export const alignSelection = (editor: Editor, how: Alignment): void => {
  const rects = rectsOf(editor, selectedNodes(editor));
  if (rects.size < 2) return;
  editor.document.change("Align", (graph) => moveNodes(graph, align(rects, how)));
};

/** Lays out the selection, or everything: from left to right, beginning where it was. */
export const tidy = async (editor: Editor): Promise<void> => {
  const chosen = selectedNodes(editor);
  const nodes = (chosen.length > 1 ? chosen : nodesOf(graphOf(editor))).filter(({ type }) => !isRemark(type));
  if (nodes.length < 2) return;
  const rects = rectsOf(editor, nodes);
  const frame = around([...rects.values()])!;
  const edges = edgesOf(graphOf(editor)).filter(({ source, target }) => rects.has(source) && rects.has(target));
  try {
    const places = await layOut({
      nodes: [...rects].map(([id, { width, height }]) => ({ id, width, height })),
      edges: edges.map(({ source, target }) => ({ source, target })),
    });
    const moved = new Map(places.map(({ id, x, y }) => [id, { x: frame.x + x, y: frame.y + y }]));
    editor.document.change("Tidy up", (graph) => moveNodes(graph, moved));
  } catch (error) {
    complain(error instanceof Error ? error.message : String(error));
  }
};

/** The node beside a node: along its links, else the nearest in that direction. */
export const neighbour = (editor: Editor, direction: "left" | "right" | "up" | "down"): string | undefined => {
  const [node] = selectedNodes(editor);
  const graph = graphOf(editor);
  const nodes = nodesOf(graph);
  if (!node) return nodes.toSorted((a, b) => a.x - b.x || a.y - b.y)[0]?.id;
  const linked = edgesOf(graph).find(({ source, target }) =>
    direction === "left" ? target === node.id : direction === "right" && source === node.id,
  );
  if (linked) return direction === "left" ? linked.source : linked.target;
  const ahead = nodes.filter(({ id, x, y }) => {
    if (id === node.id) return false;
    return { left: x < node.x, right: x > node.x, up: y < node.y, down: y > node.y }[direction];
  });
  return ahead.toSorted((a, b) => Math.hypot(a.x - node.x, a.y - node.y) - Math.hypot(b.x - node.x, b.y - node.y))[0]?.id;
};

/** A place to the right of a node, for what is linked to it. */
export const placeBeside = (editor: Editor, nodeId: string, side: "output" | "input"): Point => {
  const node = nodeById(graphOf(editor), nodeId);
  const width = editor.ui.getState().boxes.get(nodeId)?.width ?? NEW_SIZE.width;
  if (!node) return { x: 0, y: 0 };
  return { x: side === "output" ? node.x + width + BESIDE : node.x - NEW_SIZE.width - BESIDE, y: node.y };
};

export const isCall = (node: DocNode): boolean => callsModel(node.type);
export const kindTitle = (node: DocNode): string => kindOf(node.type).title;
