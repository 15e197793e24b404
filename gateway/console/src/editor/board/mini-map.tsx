import { MiniMap as Map, useOnViewportChange, useStoreApi } from "@xyflow/react";
import { useCallback, useEffect, useState } from "react";
import { CORNERS, freeCorner, type Corner } from "../../canvas/corners";
import { frameOf } from "../../canvas/frames";
import { kindColour } from "../../canvas/kinds";
import { MINIMAP } from "../../messages/editor/board";
import { classes } from "../../ui/classes";
import { useScene } from "../context";
import type { FlowNode } from "../scene/flow";

/** Frames are behind nodes on the map, and nodes have their kind's colour. */
const mapColour = ({ data: { node } }: FlowNode): string => (frameOf(node) ? "var(--map-frame)" : kindColour(node.type, node.data));

/** Shows the map in a corner without nodes. If all corners have nodes, the map is shown only while the view moves. */
export const Minimap = () => {
  const nodes = useScene((state) => state.nodes);
  const flow = useStoreApi();
  const [corner, setCorner] = useState<Corner>();
  const choose = useCallback(() => {
    const rects = nodes.flatMap(({ data: { node, box }, position }) => (frameOf(node) ? [] : [{ ...position, ...box }]));
    setCorner(freeCorner(rects, flow.getState()));
  }, [nodes, flow]);
  useEffect(choose, [choose]);
  useOnViewportChange({ onEnd: choose });
  return (
    <Map<FlowNode>
      pannable
      zoomable
      position={corner ?? CORNERS[0]}
      className={classes("max-md:hidden", corner === undefined && "map-hidden")}
      ariaLabel={MINIMAP.label}
      nodeColor={mapColour}
    />
  );
};
