import type { ChangeKind } from "../../document/compare";
import { edgesOf, nodesOf, type DocGraph } from "../../document/graph";
import { boxOf } from "../../canvas/geometry";
import { around, type Rect } from "../../canvas/rects";
import { createPortBook } from "../../canvas/ports";
import { classes } from "../../ui/classes";
import { useEditor } from "../context";
import { nodeTitle } from "../titles";
import { GRAPH_PICTURE } from "../../messages/editor/versions";

const MARGIN = 40;
const FONT = 34;
const CHARACTERS = 13;
const STRIP = 8;

const FILLS: Readonly<Record<ChangeKind | "same", string>> = {
  added: "fill-ok-soft stroke-ok",
  removed: "fill-bad-soft stroke-bad",
  changed: "fill-warn-soft stroke-warn",
  moved: "fill-accent-soft stroke-accent",
  same: "fill-surface stroke-line-strong",
};

const shortened = (title: string): string => (title.length > CHARACTERS ? `${title.slice(0, CHARACTERS - 1)}…` : title);

const curve = (from: Rect, to: Rect): string => {
  const [x1, y1, x2, y2] = [from.x + from.width, from.y + from.height / 2, to.x, to.y + to.height / 2];
  const bend = Math.max(60, Math.abs(x2 - x1) / 2);
  return `M${x1} ${y1} C${x1 + bend} ${y1} ${x2 - bend} ${y2} ${x2} ${y2}`;
};

/** A small picture of a whole graph, with differences in colour. */
export const GraphPicture = ({ title, graph, changes }: { title: string; graph: DocGraph; changes: ReadonlyMap<string, ChangeKind> }) => {
  const ports = createPortBook()(graph, useEditor());
  const nodes = nodesOf(graph);
  const rects = new Map(
    nodes.map((node): [string, Rect] => {
      const { width, height } = boxOf(node, ports.get(node.id)!, undefined);
      return [node.id, { x: node.x, y: node.y, width, height }];
    }),
  );
  const frame = around([...rects.values()]) ?? { x: 0, y: 0, width: 600, height: 300 };
  const view = [frame.x - MARGIN, frame.y - MARGIN, frame.width + 2 * MARGIN, frame.height + 2 * MARGIN];
  return (
    <figure className="min-w-0">
      <figcaption className="mb-1 text-xs font-medium text-muted">{title}</figcaption>
      <svg
        viewBox={view.join(" ")}
        role="img"
        aria-label={`${title}: ${nodes.length} ${nodes.length === 1 ? GRAPH_PICTURE.node : GRAPH_PICTURE.nodes}`}
        className="h-52 w-full rounded-xl border bg-board max-sm:h-40"
      >
        {edgesOf(graph).map(({ id, source, target }) => {
          const [from, to] = [rects.get(source), rects.get(target)];
          return from && to ? <path key={id} d={curve(from, to)} className="fill-none stroke-line-strong" strokeWidth={5} /> : null;
        })}
        {nodes.map((node) => {
          const { x, y, width, height } = rects.get(node.id)!;
          const kind = changes.get(node.id) ?? "same";
          return (
            <g key={node.id}>
              <rect {...{ x, y, width, height }} rx={18} strokeWidth={kind === "same" ? 4 : STRIP} className={FILLS[kind]} />
              <text
                x={x + width / 2}
                y={y + height / 2}
                fontSize={FONT}
                textAnchor="middle"
                dominantBaseline="central"
                className={classes("fill-text", kind !== "same" && "font-semibold")}
              >
                {shortened(nodeTitle(node))}
              </text>
            </g>
          );
        })}
      </svg>
    </figure>
  );
};
