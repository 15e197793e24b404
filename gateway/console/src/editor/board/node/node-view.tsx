import { callsModel, makesCalls, waitsForDecision } from "@nodeloom/kernel/graph";
import { type NodeProps } from "@xyflow/react";
import { memo, Suspense, type CSSProperties } from "react";
import { faceOf } from "../../../canvas/face";
import { frameOf } from "../../../canvas/frames";
import { NODE } from "../../../canvas/geometry";
import { isKnownKind, isRemark, kindColour } from "../../../canvas/kinds";
import { textOf } from "../../../canvas/kinds/look";
import { countRender } from "../../../canvas/renders";
import { useLive, type NodeProgress } from "../../../runs/live";
import { classes } from "../../../ui/classes";
import { useEditor, useLeftOut, useMark, useScene } from "../../context";
import { FrameView, NodeCorner, NoteView } from "../../panels/lazy-panels";
import { shownIn } from "../../scene/scene";
import type { NodeViewData } from "../../scene/flow";
import { NodeDecision } from "./node-decision";
import { NodeFooter } from "./node-footer";
import { NodeHead } from "./node-head";
import { NodeLine } from "./node-line";
import { NodeMedia } from "./node-media";
import { NodeSettings } from "./node-settings";
import { isBypassedNode } from "./node-state";
import { NodeText } from "./node-text";
import { PortRows } from "./port-rows";
import { NODE_VIEW } from "../../../messages/editor/board";

type Mark = "idle" | NodeProgress["status"];

const RINGS: Readonly<Partial<Record<Mark, string>>> = {
  processing: "node-running",
  failed: "border-bad!",
  cancelled: "border-warn!",
};

/** Text that an assistant has written so far. */
const useWriting = (nodeId: string): string | undefined => {
  const { slug } = useEditor();
  return useLive(({ runs }) => runs[slug]?.texts.get(`${nodeId}:0`));
};

/** A node: head in its kind's colour, text, ports, price and outputs. */
export const NodeView = memo(({ data, selected }: NodeProps & { data: NodeViewData }) => {
  const { node, ports, box, title } = data;
  countRender(NODE_VIEW.node(node.id));
  const shownOutputs = useScene((state) => shownIn(state, node.id));
  const writing = useWriting(node.id);
  const mark = useMark(node.id);
  const leftOut = useLeftOut(node.id);
  if (isRemark(node.type))
    return (
      <Suspense fallback={null}>
        {frameOf(node) ? <FrameView node={node} selected={selected} /> : <NoteView node={node} selected={selected} />}
        {!frameOf(node) && <NodeCorner node={node} box={box} />}
      </Suspense>
    );
  const { progress } = shownOutputs;
  const { line, text, settings } = faceOf(node, ports);
  const hasPicture = box.floor !== undefined && box.floor.preview === "picture";
  return (
    <div
      className={classes(
        "node-card",
        selected && "node-selected",
        RINGS[progress?.status ?? "idle"],
        mark === "problem" && "border-bad/70!",
        !isKnownKind(node.type) && "border-dashed",
        isBypassedNode(node) && "node-bypassed",
        box.isCollapsed && "node-collapsed",
        leftOut && "opacity-35",
        hasPicture && "node-pictured",
      )}
      style={{ "--kind": kindColour(node.type, node.data) } as CSSProperties}
    >
      <NodeHead node={node} title={title} progress={progress} mark={mark} isCollapsed={box.isCollapsed} />
      {box.hasLine && <NodeLine node={node} title={title} line={line ?? ""} top={NODE.header} />}
      {box.well && text && <NodeText node={node} text={text} {...box.well} />}
      {box.settings && <NodeSettings node={node} settings={settings} {...box.settings} />}
      <PortRows nodeId={node.id} ports={ports} box={box} />
      {box.hasFooter && (
        <NodeFooter
          nodeId={node.id}
          model={textOf(node.data.model) || undefined}
          isFree={makesCalls(node.type) && !callsModel(node.type)}
          progress={progress}
          top={box.footerTop}
        />
      )}
      {box.floor && <NodeMedia node={node} view={shownOutputs} floor={box.floor} width={box.width} title={title} writing={writing} />}
      {!box.isCollapsed && (
        <Suspense fallback={null}>
          <NodeCorner node={node} box={box} />
        </Suspense>
      )}
      {progress?.status === "processing" && waitsForDecision(node.type) && <NodeDecision nodeId={node.id} />}
    </div>
  );
});
NodeView.displayName = "NodeView";
