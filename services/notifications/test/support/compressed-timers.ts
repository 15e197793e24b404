import { proxySinks, type Sinks, type WorkflowInterceptors } from "@temporalio/workflow";

export interface TimerSinks extends Sinks {
  timers: { onTimer(durationMs: number, summary: string | undefined): void };
}

const { timers } = proxySinks<TimerSinks>();

/** Bundled with workflows under test: timers fire at once and their lengths are recorded. */
export const interceptors = (): WorkflowInterceptors => ({
  outbound: [{ startTimer: async (input) => timers.onTimer(input.durationMs, input.options?.summary) }],
});
