import { useQuery } from "@tanstack/react-query";
import { getRouteApi, Link } from "@tanstack/react-router";
import { ArrowLeft } from "lucide-react";
import { useWorkflowNames } from "../../parts/workflow-names";
import { LoadFailure } from "../../parts/error-pages";
import { Skeleton } from "../../ui/notice";
import { Page } from "../../ui/page";
import { HookList } from "./hook-list";
import { hooksQuery, schedulesQuery } from "./queries";
import { ScheduleList } from "./schedule-list";

const route = getRouteApi("/shell/workflows/$slug/triggers");

/** What starts a workflow by itself: its schedules and hooks. */
export const TriggersPage = () => {
  const { slug } = route.useParams();
  const nameOf = useWorkflowNames();
  const [schedules, hooks] = [useQuery(schedulesQuery(slug)), useQuery(hooksQuery(slug))];
  return (
    <Page
      title="Schedules and hooks"
      lead={`What starts ${nameOf(slug) ?? slug} without you: times, and other services that call an address.`}
      actions={
        <Link
          to="/workflows/$slug"
          params={{ slug }}
          className="inline-flex items-center gap-1.5 rounded-lg px-2.5 py-2 text-sm text-muted hover:bg-hover hover:text-text"
        >
          <ArrowLeft className="size-4" aria-hidden /> Back to the workflow
        </Link>
      }
    >
      <div className="flex flex-col gap-10">
        {schedules.isPending && <Skeleton lines={4} />}
        {schedules.isError && <LoadFailure error={schedules.error} retry={() => void schedules.refetch()} />}
        {schedules.data && <ScheduleList slug={slug} schedules={schedules.data} />}
        {hooks.isPending && <Skeleton lines={4} />}
        {hooks.isError && <LoadFailure error={hooks.error} retry={() => void hooks.refetch()} />}
        {hooks.data && <HookList slug={slug} hooks={hooks.data} />}
      </div>
    </Page>
  );
};
