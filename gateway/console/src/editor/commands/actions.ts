import { around, freePlace, type Alignment, align } from "../../canvas/rects";
import { isRemark } from "../../canvas/kinds";
import { layOut } from "../../canvas/layout";
import { fits, fittingInputs, fittingOutputs, isWordsForFile, portsOf, type Port } from "../../canvas/ports";
import { partText } from "../../document/clipboard";
import { connect, copyInto, moveNodes, partOf, removeBridging, removeItems, sameEnds, type Ends, type Point } from "../../document/edit";
import { edgesOf, leadsTo, nodeById, nodesOf, type DocEdge, type DocGraph, type DocNode } from "../../document/graph";
import { complain, say } from "../../ui/overlays/toast";
import { graphOf, rectsOf, roomsOf, selectedNodes } from "../chosen";
import type { Editor } from "../context";
import { withFrameContents } from "./frame-actions";
import { nodeTitle, titleIn } from "../titles";
import type { LinkStart } from "../ui-store";
import { ACTIONS } from "../../messages/editor/commands";

/** Edges that a new one replaces, if the port takes a single value. */
export const replacedBy = (graph: DocGraph, ends: Ends, input: Port | undefined): string[] =>
  input?.list === true
    ? []
    : edgesOf(graph)
        .filter((edge) => edge.target === ends.target && edge.targetHandle === ends.targetHandle)
        .map(({ id }) => id);

const usedInputs = (graph: DocGraph, id: string): ReadonlySet<string> =>
  new Set(edgesOf(graph).flatMap((edge) => (edge.target === id && edge.targetHandle !== null ? [edge.targetHandle] : [])));

/** Shows a notice with the links that a change replaced. It offers undo while undo would revert that change. */
export const sayReplaced = (editor: Editor, before: DocGraph, replaced: readonly string[]): void => {
  if (replaced.length === 0) return;
  const after = graphOf(editor);
  const sources = edgesOf(before).filter(({ id }) => replaced.includes(id));
  const names = sources.flatMap(({ source }) => {
    const node = nodeById(before, source);
    return node ? [`“${titleIn(editor, node)}”`] : [];
  });
  say(ACTIONS.replaced(names.join(", ")), {
    label: ACTIONS.undo,
    run: () => void (graphOf(editor) === after ? editor.document.undo() : complain(ACTIONS.changedSince)),
  });
};

/** Links two ports. A port for one value loses its earlier link. */
export const link = (editor: Editor, ends: Ends, input: Port | undefined): void => {
  const before = graphOf(editor);
  const replaced = replacedBy(before, ends, input);
  editor.document.change(ACTIONS.connect, (now) => connect(now, ends, replaced));
  sayReplaced(editor, before, edgesOf(before).some((edge) => sameEnds(edge, ends)) ? [] : replaced);
};

/** Both ends of a link from a start to the best free port of a node; undefined if none fits. */
export const endsBetween = (editor: Editor, graph: DocGraph, start: LinkStart, node: DocNode): { ends: Ends; input: Port } | undefined => {
  const ports = editor.scene.store.getState().ports.get(node.id) ?? portsOf(node, editor, [], []);
  if (start.side === "output") {
    const [input] = fittingInputs(start.port, ports, usedInputs(graph, node.id));
    const ends = input && { source: start.nodeId, sourceHandle: start.port.name, target: node.id, targetHandle: input.name };
    return ends && { ends, input };
  }
  const [output] = fittingOutputs(start.port, ports);
  const ends = output && { source: node.id, sourceHandle: output.name, target: start.nodeId, targetHandle: start.port.name };
  return ends && { ends, input: start.port };
};

/** Links a start to the best port of a node. @returns true if one fits */
export const linkToNode = (editor: Editor, start: LinkStart, nodeId: string): boolean => {
  const graph = graphOf(editor);
  const node = nodeById(graph, nodeId);
  if (!node || nodeId === start.nodeId) return false;
  const [from, to] = start.side === "output" ? [nodeId, start.nodeId] : [start.nodeId, nodeId];
  const connection = endsBetween(editor, graph, start, node);
  if (!connection || leadsTo(graph, from, to)) {
    complain(connection ? ACTIONS.wouldFormCycle : ACTIONS.noPortAccepts(titleIn(editor, node), start.port.type));
    return false;
  }
  const { ends, input } = connection;
  // Only a drop on a port chooses the link to replace.
  if (start.side === "output" && replacedBy(graph, ends, input).length > 0) {
    complain(ACTIONS.portTaken(titleIn(editor, node)));
    return false;
  }
  link(editor, ends, input);
  return true;
};

/** A port in the canvas library's form. */
interface HandleEnd {
  nodeId: string;
  id?: string | null;
  type: "source" | "target";
}

export const linkStart = ({ scene }: Editor, { nodeId, id, type }: HandleEnd): LinkStart | undefined => {
  const ports = scene.store.getState().ports.get(nodeId);
  const port = (type === "source" ? ports?.outputs : ports?.inputs)?.find(({ name }) => name === id);
  return port && { nodeId, port, side: type === "source" ? "output" : "input" };
};

/** Explains why a dropped link isn't possible. */
export const complainAbout = (editor: Editor, start: LinkStart, handle: HandleEnd): void => {
  const end = linkStart(editor, handle);
  // Dropping a link on its origin cancels it.
  if (!end || (end.nodeId === start.nodeId && end.side === start.side)) return;
  if (end.side === start.side) return complain(ACTIONS.outputToInput);
  const [output, input] = start.side === "output" ? [start, end] : [end, start];
  if (output.nodeId === input.nodeId) return complain(ACTIONS.notToItself);
  if (isWordsForFile(output.port, input.port)) return complain(ACTIONS.typeMismatch(input.port.name, input.port.type, output.port.name));
  complain(
    fits(output.port, input.port)
      ? ACTIONS.wouldFormCycle
      : ACTIONS.acceptsButOutputs(input.port.name, input.port.type, output.port.name, output.port.type),
  );
};

export const linkAt = (editor: Editor, nodeId: string, port: string): DocEdge | undefined =>
  edgesOf(graphOf(editor)).find((edge) => edge.target === nodeId && edge.targetHandle === port);

/** Opens the palette with nodes for the other end of a port's link. */
export const openPortPalette = (editor: Editor, from: LinkStart, at: Point): void =>
  editor.ui.setState({ palette: { at, place: placeBeside(editor, from.nodeId, from.side), from } });

/** Size of a node that hasn't been rendered yet. */
export const NEW_SIZE = { width: 248, height: 170 };
/** Gap between consecutive nodes. */
export const BESIDE = 90;

/** "node" or "3 nodes". */
export const some = (count: number, what: string): string => (count === 1 ? what : `${count} ${what}s`);

export const deleteSelection = (editor: Editor): void => {
  const { selection } = editor.document.store.getState();
  const [nodes, edges] = [[...selection.nodes], [...selection.edges]];
  if (nodes.length + edges.length === 0) return;
  editor.document.change(ACTIONS.delete(nodes.length > 0 ? some(nodes.length, "node") : some(edges.length, "link")), (graph) =>
    removeItems(graph, nodes, edges),
  );
};

/** Deletes the selected node and joins its neighbours. */
export const deleteBridging = (editor: Editor): void => {
  const [node] = selectedNodes(editor);
  if (!node) return;
  const { ports } = editor.scene.store.getState();
  editor.document.change(ACTIONS.deleteAndReconnect, (graph) =>
    removeBridging(graph, node.id, ({ source, sourceHandle, target, targetHandle }) => {
      const output = ports.get(source)?.outputs.find(({ name }) => name === sourceHandle);
      const input = ports.get(target)?.inputs.find(({ name }) => name === targetHandle);
      return output !== undefined && input !== undefined && fits(output, input);
    }),
  );
};

export const copySelection = async (editor: Editor): Promise<boolean> => {
  const nodes = withFrameContents(editor, selectedNodes(editor));
  if (nodes.length === 0) return false;
  try {
    await navigator.clipboard.writeText(partText(partOf(graphOf(editor), new Set(nodes.map(({ id }) => id)))));
    say(ACTIONS.copied(nodes.length === 1 ? `“${nodeTitle(nodes[0]!)}”` : some(nodes.length, "node")));
    return true;
  } catch {
    complain(ACTIONS.clipboardBlocked);
    return false;
  }
};

const DUPLICATE_OFFSET = 40;

/** An offset near the wanted one at which the nodes cover no others. */
const freeOffset = (editor: Editor, part: { nodes: readonly DocNode[] }, wantedOffset: Point): Point => {
  const rects = rectsOf(editor, part.nodes);
  const frame = around([...rects.values()])!;
  const place = freePlace({ x: frame.x + wantedOffset.x, y: frame.y + wantedOffset.y }, frame, [
    ...roomsOf(editor, nodesOf(graphOf(editor))).values(),
  ]);
  return { x: place.x - frame.x, y: place.y - frame.y };
};

/** Inserts copies of nodes near an offset. */
export const insertPart = (editor: Editor, part: Parameters<typeof copyInto>[1], wantedOffset: Point, label: string): void => {
  const { graph, ids } = copyInto(graphOf(editor), part, freeOffset(editor, part, wantedOffset));
  editor.document.change(label, () => graph, { select: ids });
};

export const duplicateSelection = (editor: Editor): void => {
  const { graph, selection } = editor.document.store.getState();
  if (selection.nodes.size === 0) return;
  const offset = { x: DUPLICATE_OFFSET, y: DUPLICATE_OFFSET };
  insertPart(editor, partOf(graph, selection.nodes), offset, ACTIONS.duplicate(some(selection.nodes.size, "node")));
};

export const selectAll = (editor: Editor): void => editor.document.select(nodesOf(graphOf(editor)).map(({ id }) => id));

export const nudge = (editor: Editor, by: Point): void => {
  const nodes = withFrameContents(editor, selectedNodes(editor));
  const places = new Map(nodes.map(({ id, x, y }) => [id, { x: x + by.x, y: y + by.y }]));
  editor.document.change(ACTIONS.move(some(nodes.length, "node")), (graph) => moveNodes(graph, places), { key: "nudge" });
};

export const alignSelection = (editor: Editor, how: Alignment): void => {
  const rects = rectsOf(editor, selectedNodes(editor));
  if (rects.size < 2) return;
  editor.document.change(ACTIONS.align, (graph) => moveNodes(graph, align(rects, how)));
};

/** Lays out the selection or everything from left to right. */
export const tidy = async (editor: Editor, fit: (nodeIds?: readonly string[]) => void): Promise<void> => {
  const chosenNodes = selectedNodes(editor);
  const nodes = (chosenNodes.length > 1 ? chosenNodes : nodesOf(graphOf(editor))).filter(({ type }) => !isRemark(type));
  if (nodes.length < 2) return;
  const rects = roomsOf(editor, nodes);
  const frame = around([...rects.values()])!;
  const edges = edgesOf(graphOf(editor)).filter(({ source, target }) => rects.has(source) && rects.has(target));
  try {
    const places = await layOut({
      nodes: [...rects].map(([id, { width, height }]) => ({ id, width, height })),
      edges: edges.map(({ source, target }) => ({ source, target })),
    });
    const moved = new Map(places.map(({ id, x, y }) => [id, { x: frame.x + x, y: frame.y + y }]));
    editor.document.change(ACTIONS.tidyUp, (graph) => moveNodes(graph, moved));
    // The canvas must render the new positions first.
    requestAnimationFrame(() => fit(chosenNodes.length > 1 ? [...moved.keys()] : undefined));
  } catch (error) {
    complain(error instanceof Error ? error.message : String(error));
  }
};

/** Neighbour of a node: along links, else the nearest in that direction. */
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

/** A free position beside a node. */
export const placeBeside = (editor: Editor, nodeId: string, side: "output" | "input"): Point => {
  const node = nodeById(graphOf(editor), nodeId);
  const width = editor.scene.store.getState().boxes.get(nodeId)?.width ?? NEW_SIZE.width;
  if (!node) return { x: 0, y: 0 };
  const wantedPlace = { x: side === "output" ? node.x + width + BESIDE : node.x - NEW_SIZE.width - BESIDE, y: node.y };
  return freePlace(wantedPlace, NEW_SIZE, [...roomsOf(editor, nodesOf(graphOf(editor))).values()]);
};
