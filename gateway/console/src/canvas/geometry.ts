import { kindOf, makesCalls, type GraphNode } from "@nodeloom/kernel/graph";
import { faceOf } from "./face";
import { FOLDED, frameOf, hiddenBy, type FrameSize } from "./frames";
import { isRemark, previewOf, type Preview } from "./kinds";
import type { NodePorts } from "./ports";
import type { NodeView } from "../document/graph";

/**
 * Positions of all parts of a node, computed from its kind, ports, settings and outputs. The canvas measures nothing, so hundreds of nodes
 * open at once and edges are correct in the first paint. Ports never move when a result arrives.
 */
export const NODE = {
  width: 248,
  noteWidth: 280,
  header: 40,
  /** Height of a line of settings and of the text on the node. */
  line: 26,
  textLine: 18,
  textPadding: 14,
  wellGap: 6,
  /** Height of a row with two settings. */
  setting: 26,
  settingsGap: 6,
  port: 26,
  portsPadding: 8,
  /** Height of media relative to the node's width. */
  mediaShare: 0.75,
  sound: 88,
  text: 96,
  strip: 50,
  footer: 28,
  handle: 18,
} as const;

/** Widths with shortcuts; dragging the corner sets others. */
export const WIDTHS = { S: NODE.width, M: 380, L: 560 } as const;
const VIEW = { width: [200, 1_200], media: [80, 1_200], text: [50, 1_200] } as const;

/** Limits a view to sizes that people can see and drag. */
export const boundedView = (view: NodeView): NodeView => {
  const sizes = (["width", "media", "text"] as const).flatMap((name) => {
    const [value, [least, most]] = [view[name], VIEW[name]];
    return value === undefined ? [] : [[name, Math.round(Math.min(most, Math.max(least, value)))] as const];
  });
  return { ...view, ...Object.fromEntries(sizes) };
};

/** Outputs to show; undefined if the node has none and isn't running. */
export interface Floor {
  preview: Exclude<Preview, "none">;
  /** Number of calls in the strip. */
  items: number;
}

export interface Box {
  width: number;
  height: number;
  /** Draws only the head, with all ports in the middle of its sides. */
  isCollapsed: boolean;
  /** True if a line of settings is below the title. */
  hasLine: boolean;
  /** Area of the text on the node. */
  well: { top: number; height: number } | undefined;
  /** Area of the settings on the node, two in a row. */
  settings: { top: number; height: number } | undefined;
  hasFooter: boolean;
  /** Top of the footer. All parts above it never move. */
  footerTop: number;
  floor: (Floor & { top: number; height: number; hasStrip: boolean }) | undefined;
  /** Middle of each port, from the node's top left corner. */
  inputs: readonly { name: string; y: number }[];
  outputs: readonly { name: string; y: number }[];
}

const MIN_NOTE = 96;
const MAX_NOTE = 420;
const NOTE_LINE = 20;
const NOTE_CHARACTERS = 36;
const NOTE_PADDING = 34;

/** Text of a note; editors use different members for it. */
export const noteText = ({ data }: Pick<GraphNode, "data">): string =>
  ([data.text, data.content, data.note].find((text) => typeof text === "string") as string | undefined) ?? "";

const plainBox = (width: number, height: number): Box => ({
  width,
  height,
  isCollapsed: false,
  hasLine: false,
  well: undefined,
  settings: undefined,
  hasFooter: false,
  footerTop: height,
  floor: undefined,
  inputs: [],
  outputs: [],
});

const noteBox = (node: GraphNode, { width = NODE.noteWidth, text }: NodeView): Box => {
  const perLine = (NOTE_CHARACTERS * width) / NODE.noteWidth;
  const lines = noteText(node)
    .split("\n")
    .reduce((sum, line) => sum + Math.max(1, Math.ceil(line.length / perLine)), 0);
  return plainBox(width, text ?? Math.min(MAX_NOTE, Math.max(MIN_NOTE, lines * NOTE_LINE + NOTE_PADDING)));
};

const frameBox = (node: GraphNode, { width, height }: FrameSize): Box => {
  if (!hiddenBy(node)) return plainBox(width, height);
  const ports = [{ name: FOLDED.port, y: FOLDED.height / 2 }];
  return { ...plainBox(FOLDED.width, FOLDED.height), isCollapsed: true, inputs: ports, outputs: ports };
};

const collapsedBox = (ports: Pick<NodePorts, "inputs" | "outputs">, width: number = NODE.width): Box => {
  const inMiddle = ({ name }: { name: string }) => ({ name, y: NODE.header / 2 });
  const plain = plainBox(width, NODE.header);
  return { ...plain, isCollapsed: true, inputs: ports.inputs.map(inMiddle), outputs: ports.outputs.map(inMiddle) };
};

/** @param outputFloor outputs of the node; undefined if there are none */
export const boxOf = (node: GraphNode & { view?: NodeView }, ports: NodePorts, outputFloor: Floor | undefined): Box => {
  const frame = frameOf(node);
  if (frame) return frameBox(node, frame);
  const view = boundedView(node.view ?? {});
  if (isRemark(node.type)) return noteBox(node, view);
  if (view.collapsed) return collapsedBox(ports, view.width);
  const face = faceOf(node, ports);
  // A workflow node has a price after a run.
  const hasFooter = makesCalls(node.type) || (outputFloor !== undefined && kindOf(node.type)?.isReplaced === true);
  const hasLine = face.line !== undefined;
  const lineEnd = NODE.header + (hasLine ? NODE.line : 0);
  const well = face.text && {
    top: lineEnd + (hasLine ? 0 : NODE.wellGap),
    height: view.text ?? face.text.lines * NODE.textLine + NODE.textPadding,
  };
  const wellEnd = well ? well.top + well.height : lineEnd;
  const rowsOfSettings = Math.ceil(face.settings.length / 2);
  const settings = rowsOfSettings === 0 ? undefined : { top: wellEnd + NODE.settingsGap, height: rowsOfSettings * NODE.setting };
  const top = (settings ? settings.top + settings.height : wellEnd) + NODE.portsPadding;
  const place = ({ name }: { name: string }, index: number) => ({ name, y: top + index * NODE.port + NODE.port / 2 });
  const rows = Math.max(ports.inputs.length, ports.outputs.length, 1);
  const footerTop = top + rows * NODE.port + NODE.portsPadding;
  const fixed = footerTop + (hasFooter ? NODE.footer : 0);
  const { width = NODE.width, media = 0 } = view;
  const natural = outputFloor && { picture: width * NODE.mediaShare, sound: NODE.sound, text: NODE.text }[outputFloor.preview];
  const height = outputFloor && Math.round(outputFloor.preview !== "sound" && media > 0 ? media : natural!);
  const hasStrip = outputFloor !== undefined && outputFloor.items > 1;
  const floor = outputFloor && { ...outputFloor, top: fixed, height: height! + (hasStrip ? NODE.strip : 0), hasStrip };
  return {
    width,
    height: fixed + (floor?.height ?? 0),
    isCollapsed: false,
    hasLine,
    well,
    settings,
    hasFooter,
    footerTop,
    floor,
    inputs: ports.inputs.map(place),
    outputs: ports.outputs.map(place),
  };
};

/** A node's height with the outputs of several calls. */
export const fullHeight = (node: GraphNode & { view?: NodeView }, ports: NodePorts): number => {
  const preview = previewOf(node.type);
  return boxOf(node, ports, preview === "none" ? undefined : { preview, items: 2 }).height;
};
