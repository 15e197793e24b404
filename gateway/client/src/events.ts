import { readEvents } from "./server-sent-events";
import { sleep } from "./sleep";
import { unreachable, type RequestOptions, type Transport } from "./transport";

export interface ExecutionEvent {
  /** Sequence number for resuming. `node.delta` isn't in the log and has the number of the event before. */
  id: number;
  /**
   * `admitted`, `submitted`, `node.started`, `node.completed`, `node.failed`, …; `settled` is the last. `node.delta` has a piece of a text
   * in progress: `{ nodeId, item, text, reset }`.
   */
  type: string;
  /** ISO 8601. */
  at: string;
  data: Record<string, unknown>;
}

export interface EventOptions extends Pick<RequestOptions, "signal" | "headers"> {
  /** Last known event; the stream starts after it. */
  after?: number;
}

/** Events of an execution from the beginning, or after an event, until it is over. */
export type Events = (executionId: string, options?: EventOptions) => AsyncGenerator<ExecutionEvent, void, undefined>;

const LAST = "settled";
const RECONNECT_MS = 1_000;
/** Consecutive short connections without events before giving up; each also has the transport's retries. */
const MAX_BREAKS = 5;
const SOON_MS = 30_000;

/** Follows executions over any number of connections. */
export const createEvents = (transport: Transport): Events =>
  async function* events(executionId, { after = 0, signal, headers } = {}) {
    let last = after;
    for (let breaks = 0; ;) {
      const resume: Record<string, string> = last > 0 ? { "last-event-id": String(last) } : {};
      const openedAt = Date.now();
      const answer = await transport.open("watchExecution", { params: { id: executionId }, signal, headers: { ...headers, ...resume } });
      // All events were received.
      if (answer.body === null || answer.status === 204) return;
      let broken: unknown;
      try {
        for await (const { id, data } of readEvents(answer.body)) {
          if (id !== "") last = Number(id);
          breaks = 0;
          const event = { id: last, ...(JSON.parse(data) as Omit<ExecutionEvent, "id">) };
          yield event;
          if (event.type === LAST) return;
        }
      } catch (error) {
        signal?.throwIfAborted();
        broken = error;
      }
      // A run can be silent for longer than a connection lasts.
      breaks = Date.now() - openedAt < SOON_MS ? breaks + 1 : 0;
      if (breaks > MAX_BREAKS) throw unreachable(broken);
      await sleep(RECONNECT_MS, signal);
    }
  };
