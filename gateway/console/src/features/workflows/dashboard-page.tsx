import type { Me, WorkflowSummary } from "@nodeloom/client";
import { PLANS } from "@nodeloom/kernel/plans";
import { useQuery, useSuspenseQuery } from "@tanstack/react-query";
import { getRouteApi, Link } from "@tanstack/react-router";
import { FileUp, FolderPlus, Plus, Search } from "lucide-react";
import { useEffect, useRef, useState } from "react";
import { LoadFailure } from "../../parts/error-pages";
import { ownerIdOf, ownerOf } from "../../api/organization";
import { meQuery, workflowsQuery } from "../../api/queries";
import { foldersQuery, someWorkflowsQuery } from "./queries";
import { Button, buttonClasses, ButtonRow } from "../../ui/button";
import { classes } from "../../ui/classes";
import { Input, Select } from "../../ui/inputs/field";
import { Notice, Skeleton } from "../../ui/notice";
import { Page } from "../../ui/page";
import { useChosenInView } from "../../ui/use-chosen-in-view";
import { Tip } from "../../ui/overlays/tip";
import { filterWorkflows, FIRST_SHOWN, tagsOf, type Filter } from "./filter";
import { FolderBar } from "./folder-bar";
import { PromptDialog } from "../../parts/form";
import { useWorkflowActions, WORKFLOW_FILE } from "./use-workflow-actions";
import { WorkflowList } from "./workflow-list";
import { COMMON } from "../../messages/common";
import { DASHBOARD_PAGE } from "../../messages/workflows";

const route = getRouteApi("/shell/");

const VIEWS = [
  [undefined, DASHBOARD_PAGE.myWorkflows],
  ["templates", COMMON.templates],
  ["archived", COMMON.archived],
  ["hidden", DASHBOARD_PAGE.hidden],
] as const;

const Approval = ({ me }: { me: Me }) =>
  me.user.approved ? null : (
    <Notice kind="warn" title={DASHBOARD_PAGE.awaitsApproval} className="mb-6">
      {DASHBOARD_PAGE.awaitsApprovalHint} <strong>{me.user.email}</strong>
      {DASHBOARD_PAGE.updatesAutomatically}
    </Notice>
  );

/** Notice about the plan's limit before the user creates a workflow beyond it. */
const FullPlan = ({ me, workflows }: { me: Me; workflows: readonly WorkflowSummary[] }) => {
  const most = me.user.tier === "free" ? PLANS.free.maxWorkflows : null;
  const own = workflows.filter((workflow) => ownerOf(workflow) === ownerIdOf(me)).length;
  if (most === null || own < most) return null;
  return (
    <Notice
      title={DASHBOARD_PAGE.freeLimit(most)}
      className="mb-4"
      actions={
        <Link to="/plans" className={buttonClasses("secondary", "sm")}>
          {COMMON.seePlans}
        </Link>
      }
    >
      {DASHBOARD_PAGE.workflowLimitHint}
    </Notice>
  );
};

const ViewTabs = ({ filter }: { filter: Filter }) => {
  const row = useChosenInView<HTMLElement>(filter.show ?? "");
  return (
    <nav ref={row} aria-label={DASHBOARD_PAGE.filterWorkflows} className="mb-4 flex gap-1 overflow-x-auto border-b">
      {VIEWS.map(([show, title]) => (
        <Link
          key={title}
          to="/"
          search={{ show }}
          activeOptions={{ explicitUndefined: true }}
          aria-current={filter.show === show ? "page" : undefined}
          className={classes(
            "-mb-px border-b-2 px-3 py-2 text-sm max-md:py-3 font-medium whitespace-nowrap",
            filter.show === show ? "border-accent text-text" : "border-transparent text-muted hover:text-text",
          )}
        >
          {title}
        </Link>
      ))}
    </nav>
  );
};

const Filters = ({ filter, tags }: { filter: Filter; tags: readonly string[] }) => {
  const navigate = route.useNavigate();
  const set = (change: Filter): void => void navigate({ search: (old) => ({ ...old, ...change }), replace: true });
  return (
    <div className="mb-4 flex flex-wrap gap-2">
      <div className="relative min-w-48 flex-1">
        <Search className="pointer-events-none absolute top-2.5 left-2.5 size-4 text-faint" aria-hidden />
        <Input
          type="search"
          aria-label={DASHBOARD_PAGE.searchWorkflows}
          placeholder={DASHBOARD_PAGE.searchLabel}
          className="pl-8"
          defaultValue={filter.q ?? ""}
          onText={(text) => set({ q: text === "" ? undefined : text })}
        />
      </div>
      {tags.length > 0 && (
        <Select
          aria-label={DASHBOARD_PAGE.tag}
          className="w-44!"
          value={filter.tag ?? ""}
          onText={(text) => set({ tag: text === "" ? undefined : text })}
          options={tags}
        >
          <option value="">{DASHBOARD_PAGE.allTags}</option>
        </Select>
      )}
    </div>
  );
};

/** All workflows, or the first page until all are loaded. */
const useWorkflows = (filter: Filter, ownerId: string) => {
  const { q, tag, folder: folderId } = filter;
  const all = useQuery(workflowsQuery);
  const narrowing = Object.fromEntries(Object.entries({ q, tag, folderId }).filter(([, fieldValue]) => fieldValue !== undefined));
  const some = useQuery({ ...someWorkflowsQuery({ limit: FIRST_SHOWN, ...narrowing }), enabled: all.data === undefined });
  // An empty first page isn't final: later pages can have matches.
  const first = filterWorkflows(some.data ?? [], ownerId, filter).length > 0 ? some.data : undefined;
  return { rows: all.data ?? first, isPending: all.isPending, isError: all.isError, error: all.error, refetch: all.refetch };
};

export const DashboardPage = () => {
  const filter = route.useSearch();
  const { data: me } = useSuspenseQuery(meQuery);
  const workflows = useWorkflows(filter, me ? ownerIdOf(me) : "");
  const folders = useQuery(foldersQuery);
  const actions = useWorkflowActions();
  const file = useRef<HTMLInputElement>(null);
  const [naming, setNaming] = useState<"workflow" | "folder">();
  useEffect(() => {
    const onKey = (event: KeyboardEvent): void => {
      const { key, ctrlKey, metaKey, altKey, target } = event;
      const isBusy = target instanceof HTMLElement && target.closest("input, textarea, select, dialog, [role=menu]") !== null;
      if (isBusy || ctrlKey || metaKey || altKey || document.querySelector("dialog[open]")) return;
      if (key.toLowerCase() === "n") setNaming("workflow");
      else if (key === "/") document.querySelector<HTMLInputElement>("main input[type=search]")?.focus();
      else return;
      event.preventDefault();
    };
    window.addEventListener("keydown", onKey);
    return () => window.removeEventListener("keydown", onKey);
  }, []);
  if (!me) return null;
  const folderList = folders.data ?? [];
  return (
    <Page
      title={COMMON.workflows}
      actions={
        <ButtonRow>
          <input
            ref={file}
            type="file"
            accept={WORKFLOW_FILE}
            className="hidden"
            onChange={(event) => {
              const chosenFile = event.target.files?.[0];
              event.target.value = "";
              if (chosenFile) void actions.importFile(chosenFile);
            }}
          />
          <Button icon={FileUp} onClick={() => file.current?.click()}>
            {DASHBOARD_PAGE.import}
          </Button>
          <Button icon={FolderPlus} onClick={() => setNaming("folder")}>
            {DASHBOARD_PAGE.newFolder}
          </Button>
          <Tip text={DASHBOARD_PAGE.newWorkflow} keys="N" side="bottom">
            <Button icon={Plus} variant="primary" onClick={() => setNaming("workflow")}>
              {DASHBOARD_PAGE.newWorkflow}
            </Button>
          </Tip>
        </ButtonRow>
      }
    >
      <Approval me={me} />
      <ViewTabs filter={filter} />
      <FullPlan me={me} workflows={workflows.rows ?? []} />
      <Filters filter={filter} tags={tagsOf(workflows.rows ?? [], ownerIdOf(me))} />
      {filter.show === undefined && folderList.length > 0 && <FolderBar folders={folderList} chosen={filter.folder} actions={actions} />}
      {workflows.isPending && !workflows.rows && <Skeleton lines={6} />}
      {workflows.isError && <LoadFailure error={workflows.error} retry={() => void workflows.refetch()} />}
      {workflows.rows && <WorkflowList all={workflows.rows} me={me} folders={folderList} filter={filter} actions={actions} />}
      {naming === "workflow" && (
        <PromptDialog
          title={DASHBOARD_PAGE.newWorkflow}
          label={COMMON.name}
          action={COMMON.create}
          submit={(name) => actions.create({ name, folderId: filter.folder ?? null })}
          onClose={() => setNaming(undefined)}
        />
      )}
      {naming === "folder" && (
        <PromptDialog
          title={DASHBOARD_PAGE.newFolder}
          label={COMMON.name}
          action={COMMON.create}
          submit={(name) => actions.createFolder(name)}
          onClose={() => setNaming(undefined)}
        />
      )}
    </Page>
  );
};
