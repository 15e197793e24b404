import { Coins } from "lucide-react";
import { Suspense } from "react";
import { NODE } from "../../../canvas/geometry";
import type { NodeProgress } from "../../../runs/live";
import { duration, roundCredits } from "../../../ui/format";
import { useScene, useUi } from "../../context";
import { NodeElapsed } from "../../panels/lazy-panels";
import { NODE_FOOTER } from "../../../messages/editor/board";

/** @param isFree true if the node's calls cost nothing, whatever its inputs are */
export const NodeFooter = ({
  nodeId,
  model,
  isFree,
  progress,
  top,
}: {
  nodeId: string;
  model: string | undefined;
  isFree: boolean;
  progress: NodeProgress | undefined;
  top: number;
}) => {
  const price = useScene(({ judgement }) => judgement.prices.get(nodeId));
  const isReused = useUi(({ reused, panel, panelOpen }) => panelOpen && panel === "run" && reused.has(nodeId));
  const items = progress?.items ?? 0;
  return (
    <div
      className="node-footer absolute inset-x-0 flex items-center gap-2 border-t px-3 text-xs text-faint tabular-nums"
      style={{ top, height: NODE.footer }}
    >
      {progress && progress.status !== "pending" ? (
        <>
          {items > 1 && (
            <span className="font-medium text-muted">
              {progress.itemsDone ?? 0}/{items}
            </span>
          )}
          {progress.status === "processing" && (
            <Suspense fallback={null}>
              <NodeElapsed progress={progress} model={model} />
            </Suspense>
          )}
          {progress.durationMs !== null && <span>{duration(progress.durationMs)}</span>}
          {isReused && <span title={NODE_FOOTER.reusedForFree}>{NODE_FOOTER.reusedNext}</span>}
          {progress.creditsCost > 0 && <span className="ml-auto">{NODE_FOOTER.creditsShort(roundCredits(progress.creditsCost))}</span>}
        </>
      ) : isFree || price?.credits === 0 ? (
        <span className="ml-auto">{NODE_FOOTER.free}</span>
      ) : (
        price !== undefined && (
          <span className="ml-auto flex items-center gap-1" title={NODE_FOOTER.highestCostHint}>
            <Coins className="size-3.5" aria-hidden />
            {price.calls > 1 && `${price.calls} × `}
            {NODE_FOOTER.creditsShort(roundCredits(price.credits / Math.max(1, price.calls)))}
          </span>
        )
      )}
    </div>
  );
};
