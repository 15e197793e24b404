import { loadRanGraph } from "../../api/workflow-remote";
import type { Execution } from "@nodeloom/client";
import { useQuery, queryOptions } from "@tanstack/react-query";
import { getRouteApi, Link, useNavigate } from "@tanstack/react-router";
import { Loading, NotThere } from "../../parts/error-pages";
import { executionQuery } from "../../api/queries";
import { DecisionCard } from "../../runs/approvals/decision-card";
import { DecisionList } from "../../runs/approvals/decisions";
import { Gallery, type Prompts } from "../../media/gallery";
import { nameOfNode } from "../../runs/node-name";
import { filesIn } from "../../media/files-in";
import { failedIn, madeFiles } from "../../runs/outputs";
import { promptsOf } from "../../runs/prompts";
import { ResultView } from "../../runs/result-view";
import { sourceWords } from "../../runs/source";
import { RunStatus } from "../../runs/status";
import { TroubleNotice } from "../../runs/trouble/trouble-notice";
import { runTrouble } from "../../runs/trouble/trouble";
import { Code, CopyButton } from "../../ui/copy";
import { credits, dateTime, duration } from "../../ui/format";
import { Card, Facts, Page } from "../../ui/page";
import { AgainCard } from "./again-card";
import { Actions, isGoing } from "./detail-actions";
import { namedNodes } from "./named-nodes";
import { Timeline } from "./timeline";
import { Webhook } from "./webhook";
import { useWorkflowNames } from "../../parts/workflow-names";
import { COMMON } from "../../messages/common";
import { DETAIL_PAGE } from "../../messages/executions";
import { DECISIONS } from "../../messages/runs";

/** Graph of a run, which never changes. */
const ranGraphQuery = (id: string) =>
  queryOptions({
    queryKey: ["ran-graph", id],
    queryFn: ({ signal }) => loadRanGraph(id, signal),
    staleTime: Number.POSITIVE_INFINITY,
    structuralSharing: false,
    retry: false,
  });

const route = getRouteApi("/shell/executions/$id");

/** Members that newer versions of the service add. */
interface More {
  inputs?: Record<string, unknown>;
  metadata?: Record<string, string>;
  version?: number | null;
}

const Receipt = ({ execution }: { execution: Execution & More }) => (
  <Card title={DETAIL_PAGE.receipt}>
    <Facts
      rows={[
        [COMMON.status, <RunStatus key="status" status={execution.status} />],
        [COMMON.credits, credits(execution.creditsCost)],
        [COMMON.duration, duration(execution.durationMs)],
        [COMMON.started, execution.createdAt === null ? "–" : dateTime(execution.createdAt)],
        [DETAIL_PAGE.ended, execution.finishedAt === null ? "–" : dateTime(execution.finishedAt)],
        [COMMON.source, sourceWords(execution.source)],
        [COMMON.models, execution.modelIds.join(", ") || "none"],
        ...(execution.rerunOf === undefined
          ? []
          : [
              [
                DETAIL_PAGE.rerunOf,
                <Link key="rerun" to="/executions/$id" params={{ id: execution.rerunOf }} className="underline underline-offset-2">
                  {DETAIL_PAGE.anEarlierRun}
                </Link>,
              ] as const,
            ]),
        ...(typeof execution.version === "number" ? [[COMMON.version, String(execution.version)] as const] : []),
        [
          DETAIL_PAGE.id,
          <span key="id" className="flex items-center gap-1">
            <code className="font-mono text-xs wrap-anywhere">{execution.executionId}</code>
            <CopyButton compact text={execution.executionId} label={DETAIL_PAGE.copyId} />
          </span>,
        ],
        ...(execution.requestId === null
          ? []
          : [
              [
                DETAIL_PAGE.providerId,
                <code key="request" className="font-mono text-xs wrap-anywhere">
                  {execution.requestId}
                </code>,
              ] as const,
            ]),
        ...Object.entries(execution.metadata ?? {}),
      ]}
    />
  </Card>
);

const titleOf = ({ workflowSlug, modelIds }: Execution, nameOf: (slug: string) => string): string =>
  (workflowSlug === null ? modelIds[0] : nameOf(workflowSlug)) ?? DETAIL_PAGE.run;

/** Error with node, item, reason and a link. */
const Failure = ({ execution: { error, nodes, workflowSlug, executionId } }: { execution: Execution }) => {
  const navigate = useNavigate();
  if (!error) return null;
  const node = nodes.find(({ id }) => id === error.nodeId);
  const open = (): void =>
    void navigate({ to: "/workflows/$slug", params: { slug: workflowSlug ?? "" }, search: { run: executionId, node: error.nodeId } });
  return (
    <TroubleNotice
      trouble={runTrouble(error, node && failedIn(node, nameOfNode(node)))}
      on={workflowSlug === null ? {} : { "open-node": open, "raise-limit": open }}
    />
  );
};

/** Files outside of results, for failed runs and nodes without links. */
const Made = ({ execution, prompts }: { execution: Execution; prompts: Prompts | undefined }) => {
  const shownUrls = new Set(filesIn(execution.result).map(({ url }) => url));
  const nodesWithFiles = madeFiles(execution).filter(({ files }) => files.some(({ url }) => !shownUrls.has(url)));
  if (nodesWithFiles.length === 0) return null;
  return (
    <Card title={execution.status === "failed" ? DETAIL_PAGE.resultsBeforeTheFailure : DETAIL_PAGE.resultsByNode}>
      <div className="flex flex-col gap-4">
        {nodesWithFiles.map(({ id, name, files }) => (
          <section key={id} aria-label={name}>
            <h3 className="mb-1.5 text-[13px] font-semibold">{name}</h3>
            <Gallery files={files} prompts={prompts} />
          </section>
        ))}
      </div>
    </Card>
  );
};

const nodeNames =
  ({ nodes }: Execution) =>
  (nodeId: string): string => {
    const node = nodes.find(({ id }) => id === nodeId);
    return node === undefined ? nodeId : nameOfNode(node);
  };

const Detail = ({ execution: read }: { execution: Execution & More }) => {
  const ran = useQuery({ ...ranGraphQuery(read.executionId), enabled: read.workflowSlug !== null });
  const execution = ran.data ? { ...read, nodes: namedNodes(read.nodes, ran.data) } : read;
  const started = Date.parse(execution.createdAt ?? "") || 0;
  const nameOf = useWorkflowNames();
  const prompts = ran.data && promptsOf(ran.data, execution);
  const endedAt = execution.finishedAt === null ? started + execution.durationMs : Date.parse(execution.finishedAt);
  return (
    <Page title={titleOf(execution, nameOf)} lead={DETAIL_PAGE.subtitle} actions={<Actions execution={execution} />}>
      <div className="grid items-start gap-5 lg:grid-cols-[minmax(0,1fr)_20rem]">
        <div className="flex min-w-0 flex-col gap-5">
          {execution.waitingFor?.map((waiting) => (
            <DecisionCard key={waiting.nodeId} executionId={execution.executionId} waiting={waiting} />
          ))}
          {execution.decisions && (
            <Card title={DECISIONS.decisions}>
              <DecisionList decisions={execution.decisions} titleOf={nodeNames(execution)} />
            </Card>
          )}
          <Failure execution={execution} />
          {execution.result && Object.keys(execution.result).length > 0 && (
            <Card title={COMMON.result}>
              <ResultView result={execution.result} prompts={prompts} />
            </Card>
          )}
          <Made execution={execution} prompts={prompts} />
          <Card title={COMMON.nodes}>
            <Timeline nodes={execution.nodes} inputs={execution.inputs} graph={ran.data} startedAt={started} endedAt={endedAt} />
          </Card>
          <Webhook id={execution.executionId} delivery={execution.webhookDelivery} />
        </div>
        <div className="flex min-w-0 flex-col gap-5">
          <Receipt execution={execution} />
          {!isGoing(execution) && <AgainCard key={execution.executionId} execution={execution} />}
          {execution.inputs && Object.keys(execution.inputs).length > 0 && (
            <Card title={COMMON.inputs}>
              <ResultView result={execution.inputs} />
            </Card>
          )}
          <details className="rounded-2xl border bg-surface p-5">
            <summary className="text-[15px] font-semibold">{DETAIL_PAGE.showJson}</summary>
            <div className="mt-3">
              <Code text={JSON.stringify(read, undefined, 2)} label={DETAIL_PAGE.executionAsJson} />
            </div>
          </details>
        </div>
      </div>
    </Page>
  );
};

export const ExecutionPage = () => {
  const { id } = route.useParams();
  const execution = useQuery(executionQuery(id));
  if (execution.data) return <Detail execution={execution.data} />;
  if (execution.isPending) return <Loading />;
  return (
    <NotThere
      error={execution.error}
      retry={() => void execution.refetch()}
      title={DETAIL_PAGE.runNotFound}
      list={{ to: "/executions", title: DETAIL_PAGE.goToRuns }}
    >
      {DETAIL_PAGE.notFoundHint}
    </NotThere>
  );
};
