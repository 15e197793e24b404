const STEP_PX = 6;

/** Distance of a screen point from a drawn line. */
const distanceTo = (path: SVGPathElement, x: number, y: number): number => {
  const matrix = path.getScreenCTM();
  if (!matrix) return Number.POSITIVE_INFINITY;
  const point = new DOMPoint(x, y).matrixTransform(matrix.inverse());
  const length = path.getTotalLength();
  let best = Number.POSITIVE_INFINITY;
  for (let at = 0; at <= length; at += STEP_PX) {
    const on = path.getPointAtLength(at);
    best = Math.min(best, Math.hypot(on.x - point.x, on.y - point.y));
  }
  return best;
};

/** Nearest link to a point, among those whose wider invisible lines are below it. */
export const nearestEdge = (x: number, y: number): string | undefined => {
  const edges = new Set(document.elementsFromPoint(x, y).flatMap((element) => element.closest<SVGElement>(".react-flow__edge") ?? []));
  if (edges.size < 2) return [...edges][0]?.dataset.id;
  return [...edges]
    .map((edge) => ({ id: edge.dataset.id, distance: distanceTo(edge.querySelector<SVGPathElement>(".react-flow__edge-path")!, x, y) }))
    .sort((a, b) => a.distance - b.distance)[0]?.id;
};
