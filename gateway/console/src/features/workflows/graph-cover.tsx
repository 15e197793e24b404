import { useQuery } from "@tanstack/react-query";
import { api } from "../../api/client";
import { kindColour, isRemark } from "../../canvas/kinds";
import { around } from "../../canvas/rects";
import { edgesOf, nodesOf, readDocGraph, type DocGraph } from "../../document/graph";

const SIZE = { width: 248, height: 170 };
const MARGIN = 90;
const HEAD = 46;

const graphQuery = (slug: string, updatedAt: string) => ({
  queryKey: ["cover", slug, updatedAt],
  queryFn: async ({ signal }: { signal: AbortSignal }): Promise<DocGraph> => {
    const { nodes, edges } = await api.workflows.get(slug, { signal });
    return readDocGraph(JSON.stringify(nodes), JSON.stringify(edges));
  },
  // The time of the last change is part of the key, so the graph never changes.
  staleTime: Number.POSITIVE_INFINITY,
  retry: false,
});

/** Small graph in its kinds' colours, for workflows without outputs. */
export const GraphCover = ({ slug, updatedAt }: { slug: string; updatedAt: string }) => {
  const { data: graph } = useQuery(graphQuery(slug, updatedAt));
  return graph ? <Sketch graph={graph} /> : null;
};

/** Small picture of a loaded graph. */
export const GraphSketch = ({ nodes, edges }: { nodes: readonly unknown[]; edges: readonly unknown[] }) => (
  <Sketch graph={readDocGraph(JSON.stringify(nodes), JSON.stringify(edges))} />
);

const Sketch = ({ graph }: { graph: DocGraph }) => {
  const nodes = nodesOf(graph).filter(({ type }) => !isRemark(type));
  const rects = new Map(nodes.map(({ id, x, y }) => [id, { x, y, ...SIZE }]));
  const frame = around([...rects.values()]);
  if (!frame) return null;
  const view = [frame.x - MARGIN, frame.y - MARGIN, frame.width + 2 * MARGIN, frame.height + 2 * MARGIN].join(" ");
  return (
    <svg viewBox={view} preserveAspectRatio="xMidYMid meet" className="size-full bg-board" aria-hidden>
      {edgesOf(graph).map(({ id, source, target }) => {
        const [from, to] = [rects.get(source), rects.get(target)];
        if (!from || !to) return null;
        const [x1, y1, x2, y2] = [from.x + SIZE.width, from.y + SIZE.height / 2, to.x, to.y + SIZE.height / 2];
        const bend = Math.max(60, Math.abs(x2 - x1) / 2);
        return (
          <path
            key={id}
            d={`M${x1} ${y1} C${x1 + bend} ${y1} ${x2 - bend} ${y2} ${x2} ${y2}`}
            fill="none"
            stroke="var(--line-strong)"
            strokeWidth={8}
          />
        );
      })}
      {nodes.map(({ id, type, x, y }) => (
        <g key={id}>
          <rect x={x} y={y} {...SIZE} rx={22} fill="var(--node)" stroke="var(--node-line)" strokeWidth={4} />
          <rect x={x} y={y} width={SIZE.width} height={HEAD} rx={18} fill={kindColour(type)} />
        </g>
      ))}
    </svg>
  );
};
