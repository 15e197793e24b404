import { ViewportPortal } from "@xyflow/react";
import type { Guides } from "../../canvas/rects";

const FAR = 20_000;

export const GuideLines = ({ guides: { x, y } }: { guides: Guides }) => (
  <ViewportPortal>
    {x !== undefined && <div className="pointer-events-none absolute w-px bg-accent" style={{ left: x, top: -FAR, height: FAR * 2 }} />}
    {y !== undefined && <div className="pointer-events-none absolute h-px bg-accent" style={{ top: y, left: -FAR, width: FAR * 2 }} />}
  </ViewportPortal>
);
