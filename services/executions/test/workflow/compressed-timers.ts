import { proxySinks, workflowInfo, type Sinks, type WorkflowInterceptors } from "@temporalio/workflow";

export interface TimerSinks extends Sinks {
  timers: { asked(durationMs: number, summary: string | undefined): void };
}

/** In a workflow's memo: its timers are to be in its history, too. They then take the second that the server needs for the shortest. */
export const KEEP_TIMERS = "keepTimers";

const { timers } = proxySinks<TimerSinks>();

/** Bundled with workflows under test: no timer is waited for, and what it was asked for is told. */
export const interceptors = (): WorkflowInterceptors => ({
  outbound: [
    {
      startTimer: async (input, next) => {
        timers.asked(input.durationMs, input.options?.summary);
        if (workflowInfo().memo?.[KEEP_TIMERS]) await next({ ...input, durationMs: 1 });
      },
    },
  ],
});
