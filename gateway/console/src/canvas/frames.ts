import { isRecord, type GraphNode } from "@nodeloom/kernel/graph";
import { isRemark } from "./kinds";

/** A frame is a note with a size: `data.frame`. Nodes on it move with it; it never runs. */
export interface FrameSize {
  width: number;
  height: number;
}

export const SMALLEST_FRAME: FrameSize = { width: 160, height: 100 };
const LARGEST = 20_000;
/** Margin around the contents; the upper margin has the title. */
export const FRAME_MARGIN = 32;
export const FRAME_TITLE = 44;

const bounded = (value: number, least: number): number => Math.round(Math.min(LARGEST, Math.max(least, value)));

export const frameSize = ({ width, height }: FrameSize): FrameSize => ({
  width: bounded(width, SMALLEST_FRAME.width),
  height: bounded(height, SMALLEST_FRAME.height),
});

export const frameOf = ({ type, data: { frame } }: GraphNode): FrameSize | undefined => {
  if (!isRemark(type) || !isRecord(frame)) return undefined;
  const { width, height } = frame;
  return typeof width === "number" && typeof height === "number" ? frameSize({ width, height }) : undefined;
};

/** A collapsed frame shows its head, with two ends for links to hidden nodes. */
export const FOLDED = { width: 260, height: 56, port: "frame" } as const;

/** Ids of nodes that a collapsed frame hides; undefined for other nodes. */
export const hiddenBy = (node: GraphNode): readonly string[] | undefined => {
  const { collapsed } = node.data;
  if (!Array.isArray(collapsed) || !frameOf(node)) return undefined;
  return collapsed.filter((id): id is string => typeof id === "string" && id !== node.id);
};

/** Maps each hidden node to the outermost collapsed frame that represents it. */
export const hiddenNodes = (nodes: readonly GraphNode[]): ReadonlyMap<string, string> => {
  const frames = new Map<string, string>();
  for (const node of nodes) for (const id of hiddenBy(node) ?? []) if (!frames.has(id)) frames.set(id, node.id);
  const outermost = (id: string): string => {
    const visited = new Set([id]);
    let at = frames.get(id)!;
    for (let next = frames.get(at); next !== undefined && !visited.has(at); next = frames.get(at)) {
      visited.add(at);
      at = next;
    }
    return at;
  };
  return new Map([...frames.keys()].map((id) => [id, outermost(id)]));
};

interface FrameBox {
  id: string;
  x: number;
  y: number;
  width: number;
  height: number;
}

/** Ids of nodes whose centre is on a frame. */
export const onFrame = (frame: FrameBox, others: readonly FrameBox[]): string[] =>
  others
    .filter(({ id, x, y, width, height }) => {
      const [middle, centre] = [x + width / 2, y + height / 2];
      return id !== frame.id && middle > frame.x && middle < frame.x + frame.width && centre > frame.y && centre < frame.y + frame.height;
    })
    .map(({ id }) => id);
