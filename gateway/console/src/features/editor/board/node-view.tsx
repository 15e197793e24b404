import { callsHttp } from "@nodeloom/kernel/graph";
import { type NodeProps } from "@xyflow/react";
import { CircleCheck, CircleX, Coins, LoaderCircle, SkipForward, TriangleAlert } from "lucide-react";
import { memo, type CSSProperties } from "react";
import { frameOf } from "../../../canvas/frames";
import { NODE, noteText } from "../../../canvas/geometry";
import { isKnownKind, isRemark, kindColour, kindOf } from "../../../canvas/kinds";
import { countRender } from "../../../canvas/renders";
import { summaryOf } from "../../../canvas/summary";
import type { DocNode } from "../../../document/graph";
import { useLive, type NodeProgress } from "../../../runs/live";
import { classes } from "../../../ui/classes";
import { duration, roundCredits } from "../../../ui/format";
import { useEditor, useLeftOut, useScene } from "../context";
import { shownIn } from "../scene/scene";
import type { NodeViewData } from "../scene/flow";
import { nodeTitle } from "../titles";
import { FrameView } from "./frame-view";
import { NodeCorner } from "./node-corner";
import { NodeMedia } from "./node-media";
import { PortRows } from "./port-rows";

type Mark = "idle" | NodeProgress["status"];

const RINGS: Readonly<Partial<Record<Mark, string>>> = {
  processing: "node-running",
  failed: "border-bad!",
  cancelled: "border-warn!",
};

const StateIcon = ({ progress }: { progress: NodeProgress | undefined }) => {
  switch (progress?.status) {
    case "processing":
      return <LoaderCircle className="size-4 shrink-0 animate-spin text-accent-text" aria-label="running" role="img" />;
    case "completed":
      return <CircleCheck className="size-4 shrink-0 text-ok" aria-label="completed" role="img" />;
    case "failed":
      return <CircleX className="size-4 shrink-0 text-bad" aria-label="failed" role="img" />;
    case "skipped":
    case "cancelled":
      return <SkipForward className="size-4 shrink-0 text-warn" aria-label={progress.status} role="img" />;
    default:
      return null;
  }
};

/** @param isFree whether what the node calls costs nothing, whatever it asks */
const Footer = ({
  nodeId,
  isFree,
  progress,
  top,
}: {
  nodeId: string;
  isFree: boolean;
  progress: NodeProgress | undefined;
  top: number;
}) => {
  const price = useScene(({ judgement }) => judgement.prices.get(nodeId));
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
          {progress.durationMs !== null && <span>{duration(progress.durationMs)}</span>}
          {progress.creditsCost > 0 && <span className="ml-auto">{roundCredits(progress.creditsCost)} cr</span>}
        </>
      ) : isFree ? (
        <span className="ml-auto">free</span>
      ) : (
        price !== undefined && (
          <span className="ml-auto flex items-center gap-1" title="The most this node may cost in one run, in credits">
            <Coins className="size-3.5" aria-hidden />
            {price.calls > 1 && `${price.calls} × `}
            {roundCredits(price.credits / Math.max(1, price.calls))} cr
          </span>
        )
      )}
    </div>
  );
};

const NoteView = ({ node, selected }: { node: DocNode; selected: boolean }) => (
  <div
    dir="auto"
    className={classes(
      "size-full overflow-hidden rounded-xl border bg-warn-soft p-3.5 text-[13px] leading-5 whitespace-pre-wrap text-warn wrap-anywhere",
      selected && "node-selected",
    )}
  >
    {noteText(node) || "An empty note"}
  </div>
);

const useWriting = (nodeId: string): string | undefined => {
  const { slug } = useEditor();
  return useLive(({ runs }) => runs[slug]?.texts.get(`${nodeId}:0`));
};

/** A node: a head in its kind's colour, ports, price, and what it made. Settings are edited beside the canvas. */
export const NodeView = memo(({ data, selected }: NodeProps & { data: NodeViewData }) => {
  const { node, ports, box } = data;
  countRender(`node ${node.id}`);
  const shown = useScene((state) => shownIn(state, node.id));
  const writing = useWriting(node.id);
  const problem = useScene(({ judgement }) => judgement.issues.some(({ nodeId }) => nodeId === node.id));
  const warned = useScene(({ judgement }) => judgement.warnings[node.id] !== undefined);
  const leftOut = useLeftOut(node.id);
  if (frameOf(node)) return <FrameView node={node} selected={selected} />;
  if (isRemark(node.type)) return <NoteView node={node} selected={selected} />;
  const kind = kindOf(node.type);
  const title = nodeTitle(node);
  const { progress } = shown;
  const hasPicture = box.floor !== undefined && box.floor.preview === "picture";
  return (
    <div
      className={classes(
        "node-card",
        selected && "node-selected",
        RINGS[progress?.status ?? "idle"],
        problem && "border-bad/70!",
        !isKnownKind(node.type) && "border-dashed",
        leftOut && "opacity-35",
        hasPicture && "node-pictured",
      )}
      style={{ "--kind": kindColour(node.type) } as CSSProperties}
    >
      <div className="node-head" style={{ height: NODE.header }}>
        <kind.icon className="node-icon size-4 shrink-0" aria-hidden />
        <span dir="auto" className="node-title min-w-0 flex-1 truncate font-semibold">
          {title}
        </span>
        {(problem || warned) && !progress && (
          <TriangleAlert
            className={classes("size-4 shrink-0", problem ? "text-bad" : "text-warn")}
            aria-label={problem ? "has a problem" : "has a warning"}
            role="img"
          />
        )}
        <StateIcon progress={progress} />
      </div>
      {box.hasSummary && (
        <p
          dir="auto"
          className="node-summary mx-3 mt-1.5 line-clamp-2 whitespace-pre-line text-xs leading-[18px] text-muted wrap-anywhere"
          style={{ height: NODE.summary - 8 }}
        >
          {writing ?? summaryOf(node)}
        </p>
      )}
      <PortRows nodeId={node.id} ports={ports} box={box} />
      {box.hasFooter && <Footer nodeId={node.id} isFree={callsHttp(node.type)} progress={progress} top={box.footerTop} />}
      {box.floor && <NodeMedia node={node} shown={shown} floor={box.floor} width={box.width} title={title} />}
      <NodeCorner node={node} box={box} />
    </div>
  );
});
NodeView.displayName = "NodeView";
