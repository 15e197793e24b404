import { DomainError } from "@nodeloom/kernel";
import { executions } from "@nodeloom/proto";
import type { EventChannel } from "./events";
import { isFinal, type ExecutionStore } from "./store";
import { TIMING } from "./timing";

export type Watch = (
  executionId: string,
  userId: string,
  after: number,
  signal: AbortSignal,
) => AsyncIterable<executions.WatchExecutionResponse>;

/** Resolves at the next news of an execution, after a silence, or when the watcher goes away. Leaves nothing behind once stopped. */
const news = (channel: EventChannel, executionId: string, signal: AbortSignal): { heard: Promise<void>; stop: () => void } => {
  let wake: () => void = () => undefined;
  const heard = new Promise<void>((resolve) => (wake = resolve));
  const timer = setTimeout(wake, TIMING.storeRead);
  signal.addEventListener("abort", wake, { once: true });
  const unsubscribe = channel.subscribe(executionId, wake);
  const stop = (): void => {
    clearTimeout(timer);
    signal.removeEventListener("abort", wake);
    unsubscribe();
  };
  return { heard, stop };
};

/** The ordered event log of an execution: what is recorded, then what happens, until it is final. */
export const createWatch = ({ store, channel }: { store: ExecutionStore; channel: EventChannel }): Watch =>
  async function* watch(executionId, userId, after, signal) {
    let last = after;
    while (!signal.aborted) {
      const next = news(channel, executionId, signal);
      try {
        const log = await store.events(executionId, userId, last);
        if (!log) throw new DomainError("not_found", "EXECUTION_NOT_FOUND", "execution not found");
        for (const { sequence, type, at, data } of log.events) {
          yield executions.WatchExecutionResponse.fromPartial({ sequence, type, at, dataJson: JSON.stringify(data) });
          last = sequence;
        }
        if (isFinal(log)) return;
        await next.heard;
      } finally {
        next.stop();
      }
    }
  };
