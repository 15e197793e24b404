import type { Folder, Me, WorkflowSummary } from "@nodeloom/client";
import { Link } from "@tanstack/react-router";
import { Plus, SearchX } from "lucide-react";
import { useState } from "react";
import { ownerIdOf, ownerOf } from "../../api/organization";
import { Button, buttonClasses } from "../../ui/button";
import { Empty } from "../../ui/notice";
import { SketchCover, useNewestMade } from "./cover";
import { filterWorkflows, FIRST_SHOWN, type Filter } from "./filter";
import { STARTERS } from "./starters";
import type { WorkflowActions } from "./use-workflow-actions";
import { WorkflowCard } from "./workflow-card";
import { COMMON } from "../../messages/common";
import { PLACES, WORKFLOW_LIST } from "../../messages/workflows";

/** Shows starters on an empty dashboard. */
const Starters = ({ templates, me, actions }: { templates: readonly WorkflowSummary[]; me: Me; actions: WorkflowActions }) => {
  const balance = me.credits.plan + me.credits.topUp;
  const runsNow = ({ estimatedCreditCost, unavailable }: WorkflowSummary): boolean =>
    unavailable === undefined && (estimatedCreditCost ?? 0) <= balance;
  const starters = STARTERS.filter(({ name }) => templates.every((template) => template.name !== name));
  const cards = (rows: readonly WorkflowSummary[]) =>
    rows.map((workflow) => (
      <WorkflowCard key={workflow.slug} workflow={workflow} own={false} folders={[]} actions={actions} newest={undefined} />
    ));
  return (
    <div>
      <div className="flex flex-wrap items-center justify-between gap-3 rounded-2xl border border-dashed border-line-strong/50 px-5 py-4">
        <div className="min-w-0">
          <h2 className="text-base font-semibold">{WORKFLOW_LIST.startFromATemplate}</h2>
          <p className="mt-0.5 text-sm text-muted">{WORKFLOW_LIST.templateHint}</p>
        </div>
        <Button variant="primary" icon={Plus} onClick={() => void actions.create({ name: PLACES.untitled })}>
          {WORKFLOW_LIST.startEmpty}
        </Button>
      </div>
      <ul className="mt-4 grid grid-cols-1 gap-4 sm:grid-cols-2 lg:grid-cols-3">
        {/* What can be run at once stands first. */}
        {cards(templates.filter(runsNow))}
        {starters.map((starter) => (
          <li key={starter.name} className="flex flex-col overflow-hidden rounded-2xl border bg-surface">
            <SketchCover nodes={starter.nodes ?? []} edges={starter.edges ?? []} />
            <div className="flex flex-1 flex-col p-4">
              <h3 className="font-semibold">{starter.name}</h3>
              <p className="mt-1 mb-4 text-[13px] text-muted">{starter.description}</p>
              <Button className="mt-auto self-start" size="sm" onClick={() => void actions.create(structuredClone(starter), "run")}>
                {COMMON.useTemplate}
              </Button>
            </div>
          </li>
        ))}
        {cards(templates.filter((template) => !runsNow(template)))}
      </ul>
    </div>
  );
};

interface ListProps {
  all: readonly WorkflowSummary[];
  me: Me;
  folders: readonly Folder[];
  filter: Filter;
  actions: WorkflowActions;
}

/** Templates chosen by administrators, and all others. */
const groupsOf = (
  matchingWorkflows: readonly WorkflowSummary[],
  { show }: Filter,
): { title: string | undefined; rows: readonly WorkflowSummary[] }[] => {
  if (show !== "templates") return [{ title: undefined, rows: matchingWorkflows }];
  const groups = [
    { title: WORKFLOW_LIST.featured, rows: matchingWorkflows.filter(({ featured }) => featured === true) },
    { title: WORKFLOW_LIST.community, rows: matchingWorkflows.filter(({ featured }) => featured !== true) },
  ];
  return groups.filter(({ rows }) => rows.length > 0);
};

/** Matching workflows as cards; starters if there are none. */
export const WorkflowList = ({ all, me, folders, filter, actions }: ListProps) => {
  const [shownCount, setShown] = useState(FIRST_SHOWN);
  const ownerId = ownerIdOf(me);
  const matches = filterWorkflows(all, ownerId, filter);
  const newestFiles = useNewestMade();
  const own = all.filter((workflow) => ownerOf(workflow) === ownerId);
  if (own.length === 0 && filter.show === undefined && filter.q === undefined)
    return (
      <Starters
        templates={all.filter(({ isTemplate }) => isTemplate).toSorted((a, b) => Number(b.featured ?? false) - Number(a.featured ?? false))}
        me={me}
        actions={actions}
      />
    );
  if (matches.length === 0)
    return (
      <Empty
        icon={SearchX}
        title={filter.q === undefined && filter.tag === undefined ? WORKFLOW_LIST.noWorkflowsYet : WORKFLOW_LIST.noMatches}
        actions={
          <Link to="/" search={{}} className={buttonClasses("secondary")}>
            {WORKFLOW_LIST.showAllWorkflows}
          </Link>
        }
      />
    );
  return (
    <>
      {groupsOf(matches.slice(0, shownCount), filter).map(({ title, rows }) => (
        <section key={title ?? ""} aria-label={title ?? COMMON.workflows} className="mb-6">
          {title !== undefined && <h2 className="mb-3 text-[15px] font-semibold">{title}</h2>}
          <ul className="grid grid-cols-1 gap-4 sm:grid-cols-2 lg:grid-cols-3">
            {rows.map((workflow) => (
              <WorkflowCard
                key={workflow.slug}
                workflow={workflow}
                own={ownerOf(workflow) === ownerId}
                folders={folders}
                actions={actions}
                newest={newestFiles?.get(workflow.slug)}
              />
            ))}
          </ul>
        </section>
      ))}
      {matches.length > shownCount && (
        <div className="mt-6 flex justify-center">
          <Button onClick={() => setShown(shownCount + FIRST_SHOWN)}>{WORKFLOW_LIST.showMoreOf(shownCount, matches.length)}</Button>
        </div>
      )}
    </>
  );
};
