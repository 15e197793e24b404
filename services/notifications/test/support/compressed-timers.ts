import { proxySinks, type Sinks, type WorkflowInterceptors } from "@temporalio/workflow";

export interface TimerSinks extends Sinks {
  timers: { asked(durationMs: number, summary: string | undefined): void };
}

const { timers } = proxySinks<TimerSinks>();

/** Bundled with workflows under test: timers fire at once and their lengths are recorded. */
export const interceptors = (): WorkflowInterceptors => ({
  outbound: [{ startTimer: async (input) => timers.asked(input.durationMs, input.options?.summary) }],
});
