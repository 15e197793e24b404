import { Panel, useStore } from "@xyflow/react";
import { Maximize } from "lucide-react";
import { Button } from "../../ui/button";
import type { Stage } from "../commands/command";
import { useScene } from "../context";
import { LOST_NODES } from "../../messages/editor/board";

/** Shows the way back to the nodes if all are out of view after an undo or panning. */
export const LostNodes = ({ stage }: { stage: Stage }) => {
  const nodes = useScene((state) => state.nodes);
  // Computed at every move, but rendered only when the result changes.
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
        {LOST_NODES.showNodes}
      </Button>
    </Panel>
  );
};
