import { readEvents } from "./server-sent-events";
import { sleep } from "./sleep";
import { unreachable, type RequestOptions, type Transport } from "./transport";

/** Something that happened to an execution. */
export interface ExecutionEvent {
  /** Its place in the execution's log; what to resume after. That of the event before it for `node.delta`, which is not in the log. */
  id: number;
  /**
   * `admitted`, `submitted`, `node.started`, `node.completed`, `node.failed`, …; `settled` is the last. `node.delta` brings a
   * piece of a text that is being written: `{ nodeId, item, text, reset }`.
   */
  type: string;
  /** ISO 8601. */
  at: string;
  data: Record<string, unknown>;
}

export interface EventOptions extends Pick<RequestOptions, "signal" | "headers"> {
  /** The last event that is known; the stream begins after it. */
  after?: number;
}

/** What happens to an execution, from the beginning or after an event, until it is over. */
export type Events = (executionId: string, options?: EventOptions) => AsyncGenerator<ExecutionEvent, void, undefined>;

const LAST = "settled";
const RECONNECT_MS = 1_000;
/** Connections in a row that ended soon and without any news; each is opened with the transport's own retries. */
const MAX_BREAKS = 5;
const SOON_MS = 30_000;

/** Follows executions over as many connections as it takes. */
export const createEvents = (transport: Transport): Events =>
  async function* events(executionId, { after = 0, signal, headers } = {}) {
    let last = after;
    for (let breaks = 0; ;) {
      const resume: Record<string, string> = last > 0 ? { "last-event-id": String(last) } : {};
      const openedAt = Date.now();
      const answer = await transport.open("watchExecution", { params: { id: executionId }, signal, headers: { ...headers, ...resume } });
      // Everything has been seen.
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
      // A run may be silent for longer than any one connection is kept.
      breaks = Date.now() - openedAt < SOON_MS ? breaks + 1 : 0;
      if (breaks > MAX_BREAKS) throw unreachable(broken);
      await sleep(RECONNECT_MS, signal);
    }
  };
