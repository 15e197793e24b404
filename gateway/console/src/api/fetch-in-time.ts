/** Longer than the service takes for anything that it answers at once. */
const ANSWER_MS = 60_000;
const EVENTS = "text/event-stream";

/** Whether an answer or a body may take as long as it takes: events, and files that are sent. */
const isLong = ({ body, headers }: RequestInit): boolean =>
  new Headers(headers).get("accept") === EVENTS || (body !== undefined && body !== null && typeof body !== "string");

/** `fetch` that gives up when nothing answers: a connection may hang for ever. */
export const fetchInTime = (input: string | URL | Request, init: RequestInit = {}): Promise<Response> => {
  if (isLong(init)) return fetch(input, init);
  const late = AbortSignal.timeout(ANSWER_MS);
  return fetch(input, { ...init, signal: init.signal ? AbortSignal.any([init.signal, late]) : late });
};
