import { isBypassed, labelOf, PORT_TYPES } from "@nodeloom/kernel/graph";
import {
  AlignCenterHorizontal,
  AlignCenterVertical,
  AlignEndHorizontal,
  AlignEndVertical,
  AlignHorizontalSpaceAround,
  AlignStartHorizontal,
  AlignStartVertical,
  AlignVerticalSpaceAround,
  ChevronRight,
  Frame,
  Group,
  LayoutGrid,
  Milestone,
  MousePointerClick,
  Redo,
  Trash2,
  type LucideIcon,
} from "lucide-react";
import { kindOf } from "../../canvas/kinds";
import { PortMark } from "../../canvas/port-mark";
import { nodesOf, type DocNode } from "../../document/graph";
import { IconButton } from "../../ui/button";
import { AreaField, InputField } from "../../ui/inputs/field";
import { deleteSelection } from "../commands/actions";
import { commandById } from "../commands/commands";
import type { Stage } from "../commands/command";
import { bypass } from "../commands/node-actions";
import { useDocument, useEditor, useUi } from "../context";
import { KindIcon } from "../board/node/kind-icon";
import { NodeMenuButton } from "../board/node-menu";
import { titleIn } from "../titles";
import { WhenItFails } from "./failing/when-it-fails";
import { formOf } from "./forms";
import { LastRun } from "./last-run";
import { NodeProblems } from "./node-problems";
import { Bounds, RawForm } from "./simple-forms";
import { useSetting } from "./use-setting";
import { COMMON } from "../../messages/common";
import { INSPECTOR } from "../../messages/editor/inspector";

const NodeForm = ({ node, stage }: { node: DocNode; stage: Stage }) => {
  const editor = useEditor();
  const { set, disabled } = useSetting(node);
  const kind = kindOf(node.type);
  const Form = formOf(kind);
  const ownLabel = labelOf(node);
  const label = typeof node.data.label === "string" ? node.data.label : (ownLabel ?? "");
  return (
    <div className="flex flex-col gap-4 p-4">
      <header className="flex items-center gap-2.5">
        <KindIcon kind={kind} data={node.data} className="size-[18px] shrink-0 text-muted" />
        <div className="min-w-0 flex-1">
          <h2 className="truncate font-semibold">{titleIn(editor, node)}</h2>
          <p className="truncate text-xs text-faint">
            {kind.title} · {node.id}
          </p>
        </div>
        {kind.runs && (
          <IconButton
            icon={Milestone}
            label={INSPECTOR.runToThisNode}
            keys={commandById("run-to-here").keys[0]}
            size="sm"
            onClick={() => commandById("run-to-here").run(editor, stage)}
          />
        )}
        {editor.canEdit && kind.runs && (
          <IconButton
            icon={Redo}
            label={isBypassed(node) ? INSPECTOR.restore : INSPECTOR.bypass}
            keys="B"
            size="sm"
            active={isBypassed(node)}
            onClick={() => bypass(editor)}
          />
        )}
        <NodeMenuButton stage={stage} />
        {editor.canEdit && (
          <IconButton icon={Trash2} label={INSPECTOR.deleteNode} keys="Backspace" size="sm" onClick={() => deleteSelection(editor)} />
        )}
      </header>
      {isBypassed(node) && <p className="rounded-xl bg-sunken p-3 text-sm text-muted">{INSPECTOR.bypassedHint}</p>}
      <NodeProblems node={node} />
      <Form key={node.id} node={node} />
      <details className="group border-t pt-3">
        <summary className="flex items-center gap-1 text-[13px] font-medium text-muted">
          <ChevronRight className="size-4 transition-transform group-open:rotate-90" aria-hidden /> {INSPECTOR.more}
        </summary>
        <div className="mt-3 flex flex-col gap-4">
          <InputField
            label={COMMON.label}
            hint={INSPECTOR.nameHint}
            disabled={disabled}
            maxLength={80}
            placeholder={kind.title}
            value={label}
            onText={(text) => set(["label"], text === "" ? undefined : text, INSPECTOR.renameNode)}
          />
          {kind.runs && (
            <AreaField
              label={INSPECTOR.comment}
              hint={INSPECTOR.noteHint}
              rows={2}
              disabled={disabled}
              value={typeof node.data.comment === "string" ? node.data.comment : ""}
              onText={(text) => set(["comment"], text === "" ? undefined : text, INSPECTOR.comment)}
            />
          )}
          <Bounds node={node} settings={kind.rules?.settings ?? {}} />
          <WhenItFails node={node} />
          {Form !== RawForm && <RawForm node={node} label={INSPECTOR.json} />}
        </div>
      </details>
      <LastRun node={node} />
    </div>
  );
};

const Nothing = ({ canEdit }: { canEdit: boolean }) => (
  <div className="flex flex-col items-center px-6 py-14 text-center text-sm text-muted">
    <MousePointerClick className="mb-2 size-6 text-faint" aria-hidden />
    {canEdit ? INSPECTOR.emptyHint : INSPECTOR.selectANodeToRead}
    <ul className="mt-6 grid w-full grid-cols-2 gap-x-4 gap-y-2 text-left text-xs" aria-label={INSPECTOR.portTypes}>
      {PORT_TYPES.map((type) => (
        <li key={type} className="flex items-center gap-2">
          <PortMark type={type} /> {INSPECTOR.portNames[type] ?? type}
        </li>
      ))}
    </ul>
  </div>
);

const ARRANGING: readonly (readonly [string, LucideIcon])[] = [
  ["align-left", AlignStartVertical],
  ["align-center", AlignCenterVertical],
  ["align-right", AlignEndVertical],
  ["align-top", AlignStartHorizontal],
  ["align-middle", AlignCenterHorizontal],
  ["align-bottom", AlignEndHorizontal],
  ["align-row", AlignHorizontalSpaceAround],
  ["align-column", AlignVerticalSpaceAround],
  ["tidy", LayoutGrid],
  ["frame", Frame],
  ["subgraph", Group],
];

/** Actions for several nodes. */
const Arrange = ({ stage }: { stage: Stage }) => {
  const editor = useEditor();
  const locked = useUi((state) => state.locked) || !editor.canEdit;
  return (
    <div role="toolbar" aria-label={INSPECTOR.arrange} className="-mx-1.5 mt-2 flex flex-wrap gap-0.5">
      {ARRANGING.map(([id, icon]) => {
        const { title, keys, run } = commandById(id);
        return (
          <IconButton key={id} icon={icon} size="sm" label={title} keys={keys[0]} disabled={locked} onClick={() => run(editor, stage)} />
        );
      })}
    </div>
  );
};

export const Inspector = ({ stage }: { stage: Stage }) => {
  const editor = useEditor();
  const graph = useDocument((state) => state.graph);
  const selection = useDocument((state) => state.selection);
  const chosenNodes = nodesOf(graph).filter(({ id }) => selection.nodes.has(id));
  const [node] = chosenNodes;
  if (!node) return <Nothing canEdit={editor.canEdit} />;
  if (chosenNodes.length > 1)
    return (
      <div className="p-4 text-sm">
        <h2 className="font-semibold">{INSPECTOR.nodes(chosenNodes.length)}</h2>
        <Arrange stage={stage} />
        <ul className="mt-2 flex flex-col gap-1 text-muted">
          {chosenNodes.map((one) => (
            <li key={one.id} className="truncate">
              {titleIn(editor, one)}
            </li>
          ))}
        </ul>
      </div>
    );
  return <NodeForm node={node} stage={stage} />;
};
