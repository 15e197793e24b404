import { useQuery } from "@tanstack/react-query";
import { getRouteApi, Link } from "@tanstack/react-router";
import { ArrowLeft } from "lucide-react";
import { useWorkflowNames } from "../../parts/workflow-names";
import { Loaded } from "../../parts/loaded";
import { Page } from "../../ui/page";
import { HookList } from "./hook-list";
import { hooksQuery, schedulesQuery } from "./queries";
import { ScheduleList } from "./schedule-list";
import { COMMON } from "../../messages/common";
import { TRIGGERS_PAGE } from "../../messages/triggers";

const route = getRouteApi("/shell/workflows/$slug/triggers");

/** Schedules and hooks of a workflow. */
export const TriggersPage = () => {
  const { slug } = route.useParams();
  const nameOf = useWorkflowNames();
  const [schedules, hooks] = [useQuery(schedulesQuery(slug)), useQuery(hooksQuery(slug))];
  return (
    <Page
      title={COMMON.schedulesAndHooks}
      lead={TRIGGERS_PAGE.subtitle(nameOf(slug) ?? slug)}
      actions={
        <Link
          to="/workflows/$slug"
          params={{ slug }}
          className="inline-flex items-center gap-1.5 rounded-lg px-2.5 py-2 text-sm text-muted hover:bg-hover hover:text-text"
        >
          <ArrowLeft className="size-4" aria-hidden /> {TRIGGERS_PAGE.backToWorkflow}
        </Link>
      }
    >
      <div className="flex flex-col gap-10">
        <Loaded of={schedules} lines={4}>
          {(rows) => <ScheduleList slug={slug} schedules={rows} />}
        </Loaded>
        <Loaded of={hooks} lines={4}>
          {(rows) => <HookList slug={slug} hooks={rows} />}
        </Loaded>
      </div>
    </Page>
  );
};
