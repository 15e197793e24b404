import { Handle, Position, type NodeProps } from "@xyflow/react";
import { CircleCheck, CircleX, Coins, LoaderCircle, Plus, SkipForward, TriangleAlert } from "lucide-react";
import { memo } from "react";
import { NODE, noteText, type Box } from "../../../canvas/geometry";
import { callsHttp } from "@nodeloom/kernel/graph";
import { frameOf } from "../../../canvas/frames";
import { isKnownKind, isRemark, kindOf } from "../../../canvas/kinds";
import { PortMark } from "../../../canvas/port-mark";
import { countRender } from "../../../canvas/renders";
import { fits, type NodePorts, type Port } from "../../../canvas/ports";
import { summaryOf } from "../../../canvas/summary";
import type { DocNode } from "../../../document/graph";
import { classes } from "../../../ui/classes";
import { creditNumber, duration } from "../../../ui/format";
import { MediaView } from "../../../runs/media-view";
import { useLive, type NodeProgress } from "../../../runs/live";
import type { OutputFile } from "../../../runs/outputs";
import { useEditor, useUi } from "../context";
import { FrameView } from "./frame-view";
import { isLeftOut } from "../ui-store";
import { nodeTitle } from "../titles";

export interface NodeViewData extends Record<string, unknown> {
  node: DocNode;
  ports: NodePorts;
  box: Box;
  files: readonly OutputFile[];
}

type Mark = "idle" | NodeProgress["status"];

const RINGS: Readonly<Partial<Record<Mark, string>>> = {
  processing: "border-accent! node-running",
  completed: "border-ok/60",
  failed: "border-bad!",
  cancelled: "border-warn!",
};

const useProgress = (nodeId: string): NodeProgress | undefined => {
  const { slug } = useEditor();
  return useLive(({ runs }) => runs[slug]?.nodes.get(nodeId));
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

interface PortHandleProps {
  nodeId: string;
  port: Port;
  side: "input" | "output";
  y: number;
}

const PortHandle = ({ nodeId, port, side, y }: PortHandleProps) => {
  const { ui, canEdit } = useEditor();
  const dimmed = useUi(({ linking }) => {
    if (!linking || (linking.nodeId === nodeId && linking.side === side)) return false;
    if (linking.nodeId === nodeId || linking.side === side) return true;
    return !(side === "input" ? fits(linking.port, port) : fits(port, linking.port));
  });
  const open = (event: React.MouseEvent): void => {
    event.stopPropagation();
    if (!canEdit) return;
    const board = (event.currentTarget as HTMLElement).closest(".react-flow");
    board?.dispatchEvent(new CustomEvent("nodeloom:port", { detail: { nodeId, port, side, x: event.clientX, y: event.clientY } }));
    void ui;
  };
  return (
    <Handle
      id={port.name}
      type={side === "input" ? "target" : "source"}
      position={side === "input" ? Position.Left : Position.Right}
      style={{ top: y }}
      onClick={open}
      className={classes("node-port", dimmed && "opacity-20")}
      title={`${port.name}: ${port.list ? "list of " : ""}${port.type}`}
    >
      <PortMark type={port.type} list={port.list} />
      {side === "output" && canEdit && (
        <span className="node-plus" aria-hidden>
          <Plus className="size-3" />
        </span>
      )}
    </Handle>
  );
};

const PortRows = ({ nodeId, ports, box }: { nodeId: string; ports: NodePorts; box: Box }) => (
  <>
    {ports.inputs.map((port, index) => (
      <div key={port.name} className="contents">
        <span className="node-label left-3.5 text-left" style={{ top: box.inputs[index]!.y }}>
          {port.name}
        </span>
        <PortHandle nodeId={nodeId} port={port} side="input" y={box.inputs[index]!.y} />
      </div>
    ))}
    {ports.outputs.map((port, index) => (
      <div key={port.name} className="contents">
        <span className="node-label right-3.5 text-right" style={{ top: box.outputs[index]!.y }}>
          {port.name}
        </span>
        <PortHandle nodeId={nodeId} port={port} side="output" y={box.outputs[index]!.y} />
      </div>
    ))}
  </>
);

const PreviewView = ({ files, box, title }: { files: readonly OutputFile[]; box: Box; title: string }) => {
  const [first] = files;
  if (box.preview === "none" || !first) return null;
  const height = box.preview === "sound" ? NODE.sound : NODE.preview;
  return (
    <div
      className="nodrag absolute inset-x-2 overflow-hidden rounded-lg bg-sunken"
      style={{ height: height - 6, bottom: (box.hasFooter ? NODE.footer : 0) + 6 }}
    >
      <MediaView file={first} label={`Preview of ${title}`} className="size-full object-contain" />
      {files.length > 1 && (
        <span className="absolute top-1.5 right-1.5 rounded-full bg-text/75 px-1.5 text-[11px] font-medium text-page">
          1 of {files.length}
        </span>
      )}
    </div>
  );
};

/** @param isFree whether what the node calls costs nothing, whatever it asks */
const Footer = ({ nodeId, isFree, progress }: { nodeId: string; isFree: boolean; progress: NodeProgress | undefined }) => {
  const price = useUi(({ judgement }) => judgement.prices.get(nodeId));
  const items = progress?.items ?? 0;
  return (
    <div
      className="absolute inset-x-0 bottom-0 flex items-center gap-2 border-t px-3 text-xs text-faint tabular-nums"
      style={{ height: NODE.footer }}
    >
      {progress && progress.status !== "pending" ? (
        <>
          {items > 1 && (
            <span className="font-medium text-muted">
              {progress.itemsDone ?? 0}/{items}
            </span>
          )}
          {progress.durationMs !== null && <span>{duration(progress.durationMs)}</span>}
          {progress.creditsCost > 0 && <span className="ml-auto">{creditNumber(progress.creditsCost)} cr</span>}
        </>
      ) : isFree ? (
        <span className="ml-auto">free</span>
      ) : (
        price !== undefined && (
          <span className="ml-auto flex items-center gap-1" title="The most this node may cost in one run, in credits">
            <Coins className="size-3.5" aria-hidden />
            {price.calls > 1 && `${price.calls} × `}
            {creditNumber(price.credits / Math.max(1, price.calls))} cr
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

/** A node: ports, two lines, state, price and preview. Settings are edited beside the canvas. */
export const NodeView = memo(({ data, selected }: NodeProps & { data: NodeViewData }) => {
  const { node, ports, box, files } = data;
  countRender(`node ${node.id}`);
  const progress = useProgress(node.id);
  const writing = useWriting(node.id);
  const problem = useUi(({ judgement }) => judgement.issues.some(({ nodeId }) => nodeId === node.id));
  const warned = useUi(({ judgement }) => judgement.warnings[node.id] !== undefined);
  const leftOut = useUi((state) => isLeftOut(state, node.id));
  if (frameOf(node)) return <FrameView node={node} selected={selected} />;
  if (isRemark(node.type)) return <NoteView node={node} selected={selected} />;
  const kind = kindOf(node.type);
  const title = nodeTitle(node);
  return (
    <div
      className={classes(
        "node-card",
        selected && "node-selected",
        RINGS[progress?.status ?? "idle"],
        problem && "border-bad/70!",
        !isKnownKind(node.type) && "border-dashed",
        leftOut && "opacity-35",
      )}
    >
      <div className="flex items-center gap-2 px-3" style={{ height: NODE.header }}>
        <kind.icon className="size-4 shrink-0 text-muted" aria-hidden />
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
          className="node-summary mx-3 line-clamp-2 whitespace-pre-line text-xs leading-[18px] text-muted wrap-anywhere"
          style={{ height: NODE.summary - 8 }}
        >
          {writing ?? summaryOf(node)}
        </p>
      )}
      <PortRows nodeId={node.id} ports={ports} box={box} />
      <PreviewView files={files} box={box} title={title} />
      {box.hasFooter && <Footer nodeId={node.id} isFree={callsHttp(node.type)} progress={progress} />}
    </div>
  );
});
NodeView.displayName = "NodeView";
