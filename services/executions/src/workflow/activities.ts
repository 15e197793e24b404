import { RunCancelled, TryAgain } from "../calls/failures";
import type { Files } from "../calls/files";
import type { Jobs } from "../calls/jobs";
import type { KeepFile } from "../calls/stored-files";
import { type Outgoing, cancelKey, extended, laterOf, local, outgoingUntil, refusalError } from "./step-failures";
import type { SendHttp } from "../calls/secrets";
import type { TextStream, TextStreams } from "../calls/text-streams";
import type { Texts } from "../calls/texts";
import type { TransformResult, Transforms } from "../calls/transforms";
import type {
  Activities,
  ApprovalActivities,
  BatchActivities,
  BundleActivities,
  Claim,
  EarlierActivities,
  LocalActivities,
  ShortAnswer,
} from "./activity-types";
import type { CancelResult, FileToKeep, FollowedJob, HttpNodeCall, HttpResult, ModelCall, SubmittedJob, TransformCall } from "../run/calls";
import { isFinal } from "../run/states";
import type { CallContext, CallResult, FinalStatus, RunEnd, RunInput, RunOutcome } from "../run/types";
import { TIMING } from "../run/timing";
import type { Execution } from "../lifecycle/execution";
import type { Holds } from "../lifecycle/holds";
import type { End } from "../lifecycle/end";
import { answeredCall, completedCall, refusedCall, type CallRecord } from "../run/call-record";
import { fingerprintOfHttp } from "../reuse/fingerprints";
import type { Stores } from "../record/stores";
import type { MediaValue } from "@nodeloom/kernel/graph";
import { createShortCalls } from "./short-calls";
import { createSteps, type StepDependencies } from "./step";
import type { createLeavingActivities } from "./leaving-activities";
import type { createUpkeepActivities } from "./upkeep-activities";

export interface ActivityOptions extends StepDependencies {
  rows: Pick<Stores["rows"], "callStanding">;
  holds: Pick<Holds, "extend">;
  end: Pick<End, "end">;
  execution: Execution;
  jobs: Jobs;
  texts: Texts;
  files: Files;
  textStreams: Pick<TextStreams, "open" | "openPreview">;
  httpRequest: SendHttp;
  keepFile: KeepFile;
  transforms: Transforms;
  outgoing: Pick<Outgoing, "call">;
  reuseCalls: LocalActivities["takeOver"];
}

/** Returns the record and the event of a call that is charged from its record. */
const keptMade = (call: CallContext, result: CallResult): { record: CallRecord; event: Record<string, unknown>; isPaid: true } => ({
  record: completedCall(call, result),
  event: result.text === null ? { files: result.files } : {},
  isPaid: true,
});

/** Returns the record and the event of a file operation, which is free. */
const keptUnpaid = (call: CallContext, files: MediaValue[]) => ({
  ...keptMade(call, { files, text: null, costMicroUsd: 0, requestId: null }),
  isPaid: false,
});

const keptTransform = (call: CallContext, { files, asked }: TransformResult) => {
  const unpaid = keptUnpaid(call, files);
  return { ...unpaid, record: { ...unpaid.record, asked } };
};

/** Returns the record and the event of a text. A text that doesn't match its schema is charged, but its item isn't complete. */
const keptText = (call: ModelCall, result: CallResult) => ({ ...keptMade(call, result), event: result.problems ? null : {} });

type OtherActivities = ReturnType<typeof createUpkeepActivities> &
  ReturnType<typeof createLeavingActivities> &
  BatchActivities &
  BundleActivities;
type RunActivities = Omit<Activities, keyof OtherActivities | keyof EarlierActivities> &
  Omit<LocalActivities, keyof ApprovalActivities | keyof EarlierActivities>;

export const createActivities = (options: ActivityOptions): RunActivities => {
  const { calls, holds, end, execution, jobs, texts, files, textStreams, httpRequest, keepFile, transforms, outgoing } = options;
  const { step, withHeartbeat, noteProgress, abort } = createSteps(options);
  const { carry, forget, short, shortLook } = createShortCalls(options);

  /**
   * Blocks calls of a run that is being cancelled, and calls that exceed their user's limit on outgoing requests.
   * @throws RunCancelled, TryAgain, OUTGOING_LIMIT_EXCEEDED
   */
  const assertMayCall = async (call: HttpNodeCall | FileToKeep | TransformCall, url: string): Promise<void> => {
    const { isCancelled, baseTier } = await options.rows.callStanding(call.executionId);
    if (isCancelled) throw new RunCancelled();
    await outgoing.call({ userId: call.userId, baseTier }, url, outgoingUntil(call));
  };

  /** Streams a text to its followers while the model writes it. */
  const writing = async <T>(call: ModelCall, work: (textStream: TextStream) => Promise<T>): Promise<T> => {
    const textStream = textStreams.open(call);
    try {
      return await work(textStream);
    } finally {
      textStream.close();
    }
  };

  const submit = step({}, async (call: ModelCall, { ending, clock }) => {
    const job = await jobs.submit(call, ending, clock);
    await noteProgress((mayWait) => execution.submitted(call, job.requestId, mayWait), true);
    return job;
  });

  const poll = step(
    { endsWithRun: false, requestId: (job: SubmittedJob) => job.requestId, recordOf: keptMade },
    async (call: ModelCall, { ending }, job: SubmittedJob) => {
      const preview = textStreams.openPreview(call);
      try {
        return await jobs.poll(call, job, ending, preview.write);
      } finally {
        preview.close();
      }
    },
  );

  const request = step(
    {
      begins: true,
      recordOf: (call: HttpNodeCall, answer: HttpResult) => ({
        record: answeredCall(call, answer, fingerprintOfHttp(call.call)),
        event: { status: answer.status },
      }),
    },
    async (call: HttpNodeCall, { cancelled }) => {
      await assertMayCall(call, call.call.url);
      return httpRequest(call, cancelled);
    },
  );

  const keep = step(
    {
      begins: true,
      recordOf: (call: FileToKeep, file: MediaValue) => keptUnpaid(call, [file]),
    },
    async (call: FileToKeep, { cancelled }) => {
      await assertMayCall(call, call.reference);
      return keepFile(call, cancelled);
    },
  );

  const transform = step({ begins: true, recordOf: keptTransform }, async (call: TransformCall, { ending }) => {
    const { isCancelled } = await options.rows.callStanding(call.executionId);
    if (isCancelled) throw new RunCancelled();
    return transforms(call, ending, (url) => assertMayCall(call, url));
  });

  /** Stops a call and records its finished part. */
  const stop = (call: ModelCall, work: () => Promise<CancelResult>): Promise<CancelResult> => {
    abort(call.key);
    return withHeartbeat(cancelKey(call), async () => {
      const stopped = await work();
      if (stopped.finished) await calls.recordEnd(completedCall(call, stopped.finished));
      if (stopped.refused) await calls.recordEnd(refusedCall(call, refusalError(call, stopped.message), stopped.refused));
      return stopped;
    });
  };

  const claimRun = async ({ executionId, attempt, claimedBy }: Claim): Promise<boolean> => {
    const claim = await execution.claim(executionId, attempt, claimedBy);
    if (!claim) return false;
    if (!claim.again) carry(executionId);
    return true;
  };

  const settle = async (input: RunInput, runEnd: RunEnd): Promise<RunOutcome> => {
    const row = await end.end({ from: "workflow", input }, runEnd);
    forget(input.executionId);
    return row && isFinal(row)
      ? { status: row.status as FinalStatus, millicredits: row.millicredits }
      : { status: runEnd.status, millicredits: 0 };
  };

  const shortSubmit = short(submit);
  const shortPoll = shortLook(poll, ({ key }) => abort(key));
  /** Longer or failing jobs continue in the activity. */
  const shortJob = async (call: ModelCall): Promise<ShortAnswer<FollowedJob>> => {
    const submitted = await shortSubmit(call);
    if (!("result" in submitted)) return submitted;
    const job = submitted.result;
    const followed = await shortPoll(call, job).catch(() => null);
    if (!followed || !("result" in followed)) return { result: { job } };
    const { origin: _, ...endedJob } = job;
    return { result: { job: endedJob, ...followed } };
  };

  return {
    claim: (claim) => local(() => claimRun(claim)),
    settle: (input, runEnd) => local(() => settle(input, runEnd)),
    takeOver: (input) => local(() => options.reuseCalls(input)),
    extendHold: (input) => local(() => extended(input, () => holds.extend(input, input.items))),

    submit,
    poll,
    shortJob,

    cancelJob: async (call, job) => {
      try {
        return await stop(call, () => jobs.cancel(call, job));
      } catch (error) {
        throw error instanceof TryAgain ? laterOf(error, call) : error;
      }
    },

    runText: step({ begins: true, limitMs: TIMING.text, recordOf: keptText }, (call, { cancelled, clock }) =>
      writing(call, (textStream) => texts.run(call, cancelled, clock, textStream)),
    ),

    // The call continues while this process stops, because another process couldn't resume it.
    runFiles: step({ begins: true, limitMs: TIMING.direct, recordOf: keptMade }, (call: ModelCall, { cancelled, clock }) =>
      files.run(call, cancelled, clock),
    ),

    stopFiles: (call) => stop(call, () => files.stop(call)),

    httpRequest: request,
    shortHttpRequest: short(request),
    keepFile: keep,
    runTransform: async (call) => {
      const { files, warnings } = await transform(call);
      return warnings.length > 0 ? { files, warnings } : files;
    },
    shortKeepFile: short(keep),
  };
};
