import { once } from "node:events";
import { isRefusal } from "@nodeloom/kernel";
import { linkSignals } from "@nodeloom/platform";
import type { Response } from "express";
import { EVENT_CALLER_MS, EVENT_HEARTBEAT_MS } from "./limits";

export interface StreamedEvent {
  /** Sequence number in the log; 0 for events outside the log, which can't be replayed. */
  id: number;
  /** Empty if the event has no type, which readers treat as `message`. */
  type: string;
  data: string;
}

const LINE_BREAK = /\r\n|\r|\n/;
const RECONNECT_AFTER_MS = 1_000;

const format = ({ id, type, data }: StreamedEvent): string =>
  `${id === 0 ? "" : `id: ${id}\n`}${type === "" ? "" : `event: ${type}\n`}${data
    .split(LINE_BREAK)
    .map((line) => `data: ${line}\n`)
    .join("")}\n`;

/** Last sequence number that a client has seen; 0 for none. */
export const lastEventId = (header: string | string[] | undefined): number =>
  typeof header === "string" && /^\d{1,15}$/.test(header) ? Number(header) : 0;

/** Headers of every event stream. */
export const EVENT_STREAM_HEADERS = { "Content-Type": "text/event-stream; charset=utf-8", "X-Accel-Buffering": "no" };

/**
 * Sends events until they end or the client disconnects; comment lines keep the connection open. If the source fails, the stream ends, and
 * the client resumes with Last-Event-ID.
 */
export const streamEvents = async (response: Response, events: AsyncIterable<StreamedEvent>, disconnect: AbortSignal): Promise<void> => {
  response.status(200).set(EVENT_STREAM_HEADERS);
  response.write(`retry: ${RECONNECT_AFTER_MS}\n\n`);
  const heartbeat = setInterval(() => response.write(": still here\n\n"), EVENT_HEARTBEAT_MS);
  try {
    for await (const event of events) {
      if (disconnect.aborted) return;
      if (!response.write(format(event))) await once(response, "drain", { signal: disconnect }).catch(() => undefined);
    }
  } finally {
    clearInterval(heartbeat);
    response.end();
  }
};

/** Aborts when the client disconnects or the process stops. */
export const whileConnected = (response: Response, stopping: AbortSignal): AbortSignal => {
  const link = linkSignals(stopping);
  const closed = (): void => {
    link.unlink();
    link.abort();
  };
  if (response.destroyed) closed();
  else response.once("close", closed);
  return link.signal;
};

/**
 * Aborts with the given signal, or once the caller would be rejected: after a key is revoked or a session ends.
 * @param admit rejects if the caller has lost access; if this check is unavailable, the stream continues
 */
export const whileAdmitted = (connected: AbortSignal, admit: () => Promise<unknown>): AbortSignal => {
  const link = linkSignals(connected);
  const timer = setInterval(() => {
    admit().catch((error: unknown) => {
      if (isRefusal(error)) link.abort();
    });
  }, EVENT_CALLER_MS);
  timer.unref();
  const stop = (): void => clearInterval(timer);
  if (link.signal.aborted) stop();
  else link.signal.addEventListener("abort", stop, { once: true });
  return link.signal;
};
