import { waitsForDecision } from "@nodeloom/kernel/graph";
import {
  ChevronDown,
  ChevronRight,
  CircleCheck,
  CircleX,
  Hourglass,
  LoaderCircle,
  MessageSquare,
  Pin,
  SkipForward,
  TriangleAlert,
} from "lucide-react";
import { titled } from "../../../ui/format";
import { NODE } from "../../../canvas/geometry";
import { kindOf } from "../../../canvas/kinds";
import type { DocNode } from "../../../document/graph";
import type { NodeProgress } from "../../../runs/live";
import { classes } from "../../../ui/classes";
import { collapse } from "../../commands/node-actions";
import { useEditor, useUi } from "../../context";
import { isPinned } from "../../pins/pins";
import { KindIcon } from "./kind-icon";
import { Rename } from "./rename";
import { commentOf, isBypassedNode } from "./node-state";
import { NODE_HEAD } from "../../../messages/editor/board";

const StateIcon = ({ progress, waits }: { progress: NodeProgress | undefined; waits: boolean }) => {
  switch (progress?.status) {
    case "processing":
      if (waits) return <Hourglass className="size-4 shrink-0 text-accent-text" aria-label={NODE_HEAD.waitingForApproval} role="img" />;
      return <LoaderCircle className="size-4 shrink-0 animate-spin text-accent-text" aria-label={NODE_HEAD.running} role="img" />;
    case "completed":
      return <CircleCheck className="size-4 shrink-0 text-ok" aria-label={NODE_HEAD.completed} role="img" />;
    case "failed":
      return <CircleX className="size-4 shrink-0 text-bad" aria-label={NODE_HEAD.failed} role="img" />;
    case "skipped":
    case "cancelled":
      return <SkipForward className="size-4 shrink-0 text-warn" aria-label={titled(progress.status)} role="img" />;
    default:
      return null;
  }
};

interface NodeHeadProps {
  node: DocNode;
  title: string;
  progress: NodeProgress | undefined;
  mark: "problem" | "warning" | undefined;
  isCollapsed: boolean;
}

/** Head of a node: kind, name, state. A double click renames it. */
export const NodeHead = ({ node, title, progress, mark, isCollapsed }: NodeHeadProps) => {
  const editor = useEditor();
  const locked = useUi((state) => state.locked) || !editor.canEdit;
  const renaming = useUi(({ writing }) => writing?.nodeId === node.id && writing.what === "title");
  const kind = kindOf(node.type);
  const comment = commentOf(node);
  const Chevron = isCollapsed ? ChevronRight : ChevronDown;
  return (
    <div className="node-head group" style={{ height: NODE.header }}>
      <KindIcon kind={kind} data={node.data} className="node-icon size-4 shrink-0" />
      {renaming ? (
        <Rename node={node} member="label" />
      ) : (
        <span
          dir="auto"
          className="node-title min-w-0 flex-1 truncate font-semibold"
          title={title}
          onDoubleClick={() => !locked && editor.ui.setState({ writing: { nodeId: node.id, what: "title" } })}
        >
          {title}
        </span>
      )}
      {isBypassedNode(node) && <span className="node-flag">{NODE_HEAD.bypassed}</span>}
      {isPinned(node) && <Pin className="size-3.5 shrink-0 fill-current text-accent-text" aria-label={NODE_HEAD.pinned} role="img" />}
      {comment !== undefined && (
        <span className="shrink-0 text-muted" title={comment}>
          <MessageSquare className="size-3.5" aria-label={NODE_HEAD.comment(comment)} role="img" />
        </span>
      )}
      {mark !== undefined && !progress && (
        <TriangleAlert
          className={classes("size-4 shrink-0", mark === "problem" ? "text-bad" : "text-warn")}
          aria-label={mark === "problem" ? NODE_HEAD.hasAProblem : NODE_HEAD.hasAWarning}
          role="img"
        />
      )}
      <StateIcon progress={progress} waits={waitsForDecision(node.type)} />
      {!locked && (
        <button
          type="button"
          tabIndex={-1}
          className="node-fold nodrag"
          aria-label={isCollapsed ? NODE_HEAD.expandNode : NODE_HEAD.collapseNode}
          onClick={() => collapse(editor, [node])}
        >
          <Chevron className="size-3.5" aria-hidden />
        </button>
      )}
    </div>
  );
};
