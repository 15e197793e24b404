import { proxySinks, workflowInfo, type Sinks, type WorkflowInterceptors } from "@temporalio/workflow";

export interface TimerSinks extends Sinks {
  timers: { onTimer(durationMs: number, summary: string | undefined): void };
}

/** Memo key. With it, timers also appear in the history, and then take the server's minimum of a second. */
export const KEEP_TIMERS = "keepTimers";

const { timers } = proxySinks<TimerSinks>();

/** Bundled with workflows under test: timers fire at once, and their durations are recorded. */
export const interceptors = (): WorkflowInterceptors => ({
  outbound: [
    {
      startTimer: async (input, next) => {
        timers.onTimer(input.durationMs, input.options?.summary);
        if (workflowInfo().memo?.[KEEP_TIMERS]) await next({ ...input, durationMs: 1 });
      },
    },
  ],
});
