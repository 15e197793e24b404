import { readEvents } from "./server-sent-events";
import { sleep } from "./sleep";
import { unreachable } from "./failures";
import type { RequestOptions, Transport } from "./transport";

/** Members of events that concern a node. */
export interface NodeEventData {
  nodeId: string;
  /** Index of the call, from 0. */
  item?: number;
  /** Number of calls of the node. */
  items?: number;
  [member: string]: unknown;
}

interface EventError {
  code?: string;
  message: string;
  [member: string]: unknown;
}

export interface EventData {
  admitted: Record<string, unknown>;
  queued: Record<string, unknown>;
  started: Record<string, unknown>;
  "node.started": NodeEventData;
  submitted: NodeEventData;
  /** A piece of a text in progress. With `reset` it replaces the text, otherwise it is appended. */
  "node.delta": NodeEventData & { text: string; reset?: boolean };
  /** Progress of a call whose provider streams it: percent of its current step, and a `data:` URL of the unfinished image. */
  "node.preview": NodeEventData & { percent?: number; image?: string };
  "node.progress": NodeEventData;
  "node.fallback": NodeEventData;
  "node.completed": NodeEventData;
  "node.failed": NodeEventData & { error: EventError };
  "node.cancelled": NodeEventData;
  "node.skipped": NodeEventData;
  /** An approval waits for its decision. */
  "execution.waiting": NodeEventData;
  "node.decided": NodeEventData;
  cancel_requested: Record<string, unknown>;
  /** The last event. */
  settled: { status?: string; error?: EventError; [member: string]: unknown };
}

/** An event; `type` determines the form of `data`. Later versions of the service can send more types. */
export type ExecutionEvent = {
  [Type in keyof EventData]: {
    /** Sequence number for resuming. `node.delta` and `node.preview` aren't in the log and have the number of the previous event. */
    id: number;
    type: Type;
    /** ISO 8601. */
    at: string;
    data: EventData[Type];
  };
}[keyof EventData];

export interface EventOptions extends Pick<RequestOptions, "signal" | "headers"> {
  /** Last known event; the stream starts after it. */
  after?: number;
}

/** Events of an execution from the beginning, or after an event, until the execution ends. */
export type Events = (executionId: string, options?: EventOptions) => AsyncGenerator<ExecutionEvent, void, undefined>;

const LAST = "settled";
const RECONNECT_MS = 1_000;
/** Maximum consecutive short connections without events; each also has the transport's retries. */
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
          const event = { ...(JSON.parse(data) as ExecutionEvent), id: last };
          yield event;
          if (event.type === LAST) return;
        }
      } catch (error) {
        signal?.throwIfAborted();
        broken = error;
      }
      // A run can be silent for longer than a connection lasts.
      breaks = Date.now() - openedAt < SOON_MS ? breaks + 1 : 0;
      if (breaks > MAX_BREAKS) throw unreachable(broken, `the events of ${executionId}`);
      await sleep(RECONNECT_MS, signal);
    }
  };
