import { proxySinks, type Sinks, type WorkflowInterceptors } from "@temporalio/workflow";

export interface TimerSinks extends Sinks {
  timers: { asked(durationMs: number, summary: string | undefined): void };
}

const { timers } = proxySinks<TimerSinks>();

/** Bundled with workflows under test: no timer is waited for, and its length is noted. */
export const interceptors = (): WorkflowInterceptors => ({
  outbound: [{ startTimer: async (input) => timers.asked(input.durationMs, input.options?.summary) }],
});
