import { unary } from "@nodeloom/platform";
import { usage as proto } from "@nodeloom/proto";
import type { GroupSumsQuery, RowsQuery, RunOutcome, RunStart } from "./requests";
import type { UsageRow } from "./store";
import type { Usage } from "./usage";

const runStart = (run: proto.RunStart | undefined): RunStart => {
  const { workflowSlug, startedAt, ...rest } = run ?? proto.RunStart.fromPartial({});
  return { ...rest, workflowSlug: workflowSlug ?? null, startedAt: startedAt ?? new Date() };
};

// An unknown status is kept here and rejected by the validation.
const runOutcome = ({
  run: _run,
  unstarted: _unstarted,
  status,
  errorCode,
  requestId,
  estimatedMillicredits,
  ...amounts
}: proto.FinishRunRequest): RunOutcome => ({
  ...amounts,
  ...(estimatedMillicredits === undefined ? {} : { estimatedMillicredits }),
  status: status as RunOutcome["status"],
  errorCode: errorCode ?? null,
  requestId: requestId ?? null,
});

const rowMessage = ({ workflowSlug, errorCode, requestId, ...row }: UsageRow): proto.UsageRow =>
  proto.UsageRow.fromPartial({
    ...row,
    workflowSlug: workflowSlug ?? undefined,
    errorCode: errorCode ?? undefined,
    requestId: requestId ?? undefined,
  });

const finish = (usage: Usage, request: proto.FinishRunRequest): Promise<void> =>
  usage.finish(runStart(request.run), runOutcome(request), request.unstarted);

/** Applies `work` to several runs. @returns the runs for which it succeeded */
const doneFor = async <Run>(runs: readonly Run[], work: (run: Run) => Promise<unknown>): Promise<Run[]> => {
  const outcomes = await Promise.allSettled(runs.map(work));
  return runs.filter((_, index) => outcomes[index]!.status === "fulfilled");
};

export const usageHandlers = (usage: Usage): proto.UsageServiceServer => ({
  startRun: unary(async ({ run }) => proto.StartRunResponse.fromPartial({ id: await usage.start(runStart(run)) })),

  startRuns: unary(async ({ runs }) => {
    const started = await doneFor(runs, (run) => usage.start(runStart(run)));
    return proto.StartRunsResponse.fromPartial({ executionIds: started.map(({ executionId }) => executionId) });
  }),

  finishRun: unary(async (request) => {
    await finish(usage, request);
    return proto.FinishRunResponse.fromPartial({});
  }),

  finishRuns: unary(async ({ runs }) => {
    const finished = await doneFor(runs, (run) => finish(usage, run));
    return proto.FinishRunsResponse.fromPartial({ executionIds: finished.map(({ run }) => run?.executionId ?? "") });
  }),

  listRows: unary(async (request) => {
    const { rows, total } = await usage.list({ ...request, status: request.status as RowsQuery["status"] });
    return proto.ListRowsResponse.fromPartial({ rows: rows.map(rowMessage), total });
  }),

  listModelNames: unary(async (request) => proto.ListModelNamesResponse.fromPartial({ names: await usage.modelNames(request) })),

  getQuoteError: unary(async (request) => proto.GetQuoteErrorResponse.fromPartial(await usage.quoteError(request))),

  listDailySums: unary(async (request) => proto.ListDailySumsResponse.fromPartial({ sums: await usage.dailySums(request) })),

  listGroupSums: unary(async ({ by, ...request }) => {
    const sums = await usage.groupSums({ ...request, by: by as GroupSumsQuery["by"] });
    return proto.ListGroupSumsResponse.fromPartial({ sums: sums.map(({ group, ...sum }) => ({ ...sum, group: group ?? undefined })) });
  }),

  removeExpired: unary(async ({ cursor }) => proto.RemoveExpiredResponse.fromPartial(await usage.removeExpired(cursor))),
});
