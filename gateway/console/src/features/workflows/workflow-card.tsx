import type { Folder, WorkflowSummary } from "@nodeloom/client";
import { useQuery } from "@tanstack/react-query";
import { Link, useNavigate } from "@tanstack/react-router";
import { Archive, Copy, Download, Ellipsis, Eye, EyeOff, FolderInput, Play, Trash2, Wallet } from "lucide-react";
import { lazy, Suspense, useState } from "react";
import { Badge } from "../../ui/badge";
import { Button, IconButton } from "../../ui/button";
import { credits, titled } from "../../ui/format";
import { Menu, type MenuEntries } from "../../ui/overlays/menu";
import { Time } from "../../ui/time";
import type { OutputFile } from "../../media/files-in";
import { runOnOpen } from "../../runs/run-on-open";
import { BudgetBar } from "../../parts/budgets/budget-bar";
import { budgetsQuery, isBudgetOf } from "../../parts/budgets/budgets";
import { Cover } from "./cover";
import { ConfirmDialog } from "../../parts/form";
import type { WorkflowActions } from "./use-workflow-actions";
import { COMMON } from "../../messages/common";
import { WORKFLOW_CARD } from "../../messages/workflows";

const BudgetDialog = lazy(async () => ({ default: (await import("../../parts/budgets/budget-dialog")).BudgetDialog }));

export interface WorkflowCardProps {
  workflow: WorkflowSummary;
  /** False for templates of other users. */
  own: boolean;
  folders: readonly Folder[];
  actions: WorkflowActions;
  /** Newest output of the workflow. */
  newest: OutputFile | undefined;
}

interface Runs {
  onRun: () => void;
}

const SHOWN_TAGS = 3;

/** Drag data type of cards. */
export const DRAGGED_WORKFLOW = "application/x-nodeloom-workflow";

const menuOf = ({ workflow, own, folders, actions }: WorkflowCardProps, ask: (what: "delete" | "budget") => void): MenuEntries => {
  const { slug, name, archived, hidden, folderId } = workflow;
  const copy = {
    label: own ? WORKFLOW_CARD.duplicate : WORKFLOW_CARD.useThisTemplate,
    icon: Copy,
    run: () => void actions.duplicate(slug, own ? WORKFLOW_CARD.copy(name) : name, own ? undefined : "run"),
  };
  const save = { label: WORKFLOW_CARD.exportAsJson, icon: Download, run: () => void actions.exportFile(slug) };
  if (!own) return [copy, save];
  const moves = [
    ...(folderId === null
      ? []
      : [{ label: WORKFLOW_CARD.moveToTopLevel, icon: FolderInput, run: () => void actions.move(slug, null, WORKFLOW_CARD.moved) }]),
    ...folders
      .filter(({ id }) => id !== folderId)
      .map(({ id, name: folder }) => ({
        label: WORKFLOW_CARD.moveTo(folder),
        icon: FolderInput,
        run: () => void actions.move(slug, id, WORKFLOW_CARD.movedTo(folder)),
      })),
  ];
  return [
    copy,
    save,
    { label: WORKFLOW_CARD.budget, icon: Wallet, run: () => ask("budget") },
    null,
    ...moves,
    ...(moves.length > 0 ? [null] : []),
    {
      label: archived ? WORKFLOW_CARD.restoreFromArchive : WORKFLOW_CARD.archive,
      icon: Archive,
      run: () => void actions.change(slug, { archived: !archived }, archived ? WORKFLOW_CARD.restored : WORKFLOW_CARD.archived),
    },
    {
      label: hidden ? WORKFLOW_CARD.showInLists : WORKFLOW_CARD.hide,
      icon: hidden ? Eye : EyeOff,
      run: () => void actions.change(slug, { hidden: !hidden }, hidden ? WORKFLOW_CARD.shownInLists : WORKFLOW_CARD.hiddenFromLists),
    },
    null,
    { label: COMMON.deleteMenu, icon: Trash2, danger: true, run: () => ask("delete") },
  ];
};

/** Opens a workflow and runs it at the price on its card. Its form opens if an input is missing or the run costs more. */
const useRun = ({ slug, estimatedCreditCost }: WorkflowSummary): Runs["onRun"] => {
  const navigate = useNavigate();
  return () => {
    runOnOpen(slug, estimatedCreditCost ?? 0);
    void navigate({ to: "/workflows/$slug", params: { slug }, search: { panel: "run" } });
  };
};

/** Buttons of a template: run it unchanged, or copy it. If the caller can't run it, shows the reason. */
const Offer = ({ workflow: { slug, name, unavailable }, actions, onRun }: Pick<WorkflowCardProps, "workflow" | "actions"> & Runs) => (
  <>
    {unavailable && (
      <p className="mt-3 text-xs text-warn wrap-anywhere">
        {unavailable.requiredTier === undefined
          ? WORKFLOW_CARD.cantRunHere(unavailable.reason)
          : WORKFLOW_CARD.needsThePlan(titled(unavailable.requiredTier))}
      </p>
    )}
    <div className="relative z-10 mt-3 flex flex-wrap gap-2">
      {!unavailable && (
        <Button size="sm" variant="primary" icon={Play} onClick={onRun}>
          {WORKFLOW_CARD.tryIt}
        </Button>
      )}
      <Button size="sm" icon={Copy} onClick={() => void actions.duplicate(slug, name, "run")}>
        {COMMON.useTemplate}
      </Button>
    </div>
  </>
);

export const WorkflowCard = (props: WorkflowCardProps) => {
  const { workflow, own, actions, newest } = props;
  const [asking, setAsking] = useState<"delete" | "budget">();
  const { slug, name, description, tags, estimatedCreditCost, updatedAt, archived, hidden, isTemplate } = workflow;
  const scope = { scope: "workflow", workflowSlug: slug } as const;
  const run = useRun(workflow);
  const budget = useQuery(budgetsQuery).data?.find(isBudgetOf(scope));
  return (
    <li
      draggable={own}
      onDragStart={(event) => event.dataTransfer.setData(DRAGGED_WORKFLOW, slug)}
      className="group relative flex min-w-0 flex-col overflow-hidden rounded-2xl border bg-surface transition-shadow hover:shadow-panel"
    >
      <Cover workflow={workflow} latest={newest} />
      <div className="flex min-w-0 flex-1 flex-col p-4">
        <div className="flex min-w-0 items-start gap-1">
          <Link
            to="/workflows/$slug"
            params={{ slug }}
            className="min-w-0 flex-1 font-semibold wrap-anywhere after:absolute after:inset-0"
            draggable={false}
          >
            <span dir="auto" className="line-clamp-2">
              {name}
            </span>
          </Link>
          <div className="relative z-10 -mt-1 -mr-2 flex pointer-coarse:-my-2.5">
            {own && !archived && workflow.unavailable === undefined && (
              <IconButton icon={Play} label={WORKFLOW_CARD.run(name)} size="sm" onClick={run} />
            )}
            <Menu
              trigger={<IconButton icon={Ellipsis} label={WORKFLOW_CARD.actionsFor(name)} size="sm" />}
              entries={menuOf(props, setAsking)}
            />
          </div>
        </div>
        {description !== "" && (
          <p dir="auto" className="mt-1 line-clamp-2 text-[13px] text-muted wrap-anywhere">
            {description}
          </p>
        )}
        <div className="mt-3 flex flex-wrap gap-1">
          {own && isTemplate && <Badge tone="accent">{COMMON.template}</Badge>}
          {archived && <Badge>{COMMON.archived}</Badge>}
          {hidden && <Badge>{WORKFLOW_CARD.hidden}</Badge>}
          {tags.slice(0, SHOWN_TAGS).map((tag) => (
            <Badge key={tag}>{tag}</Badge>
          ))}
          {tags.length > SHOWN_TAGS && <Badge>+{tags.length - SHOWN_TAGS}</Badge>}
        </div>
        {budget && <BudgetBar budget={budget} className="mt-3" />}
        <div className="mt-auto flex items-center justify-between gap-2 pt-3 text-xs text-faint">
          <span>{!estimatedCreditCost ? WORKFLOW_CARD.freeToRun : WORKFLOW_CARD.aboutPerRun(credits(estimatedCreditCost))}</span>
          {own && <Time iso={updatedAt} />}
        </div>
        {!own && <Offer workflow={workflow} actions={actions} onRun={run} />}
      </div>
      {asking === "budget" && (
        <Suspense>
          <BudgetDialog of={scope} budget={budget} onClose={() => setAsking(undefined)} />
        </Suspense>
      )}
      {asking === "delete" && (
        <ConfirmDialog
          title={WORKFLOW_CARD.deleteThisWorkflow}
          text={WORKFLOW_CARD.deleteHint(name, slug)}
          action={COMMON.delete}
          submit={() => actions.remove(slug, name)}
          onClose={() => setAsking(undefined)}
        />
      )}
    </li>
  );
};
