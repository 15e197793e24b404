import { Panel, useStore } from "@xyflow/react";
import { Maximize } from "lucide-react";
import { Button } from "../../ui/button";
import type { Stage } from "../commands/commands";
import { useScene } from "../context";

/** The way back to the nodes, where all of them lie outside of what is seen: after an undo, or a canvas that was moved too far. */
export const LostNodes = ({ stage }: { stage: Stage }) => {
  const nodes = useScene((state) => state.nodes);
  // Asked at every move of the canvas; what is drawn changes with the answer alone.
  const areLost = useStore(({ transform: [left, top, zoom], width, height }) => {
    const isSeen = ({ position, width: wide = 0, height: high = 0 }: (typeof nodes)[number]): boolean =>
      position.x * zoom + left < width &&
      position.y * zoom + top < height &&
      (position.x + wide) * zoom + left > 0 &&
      (position.y + high) * zoom + top > 0;
    return nodes.length > 0 && width > 0 && !nodes.some(isSeen);
  });
  if (!areLost) return null;
  return (
    <Panel position="bottom-center">
      <Button size="sm" icon={Maximize} className="shadow-high" onClick={() => stage.fit()}>
        Show the nodes
      </Button>
    </Panel>
  );
};
