import { headersOf } from "./organization";
import { endSession } from "./session";

/** Longer than the service takes for anything that it answers at once. */
const ANSWER_MS = 60_000;
const EVENTS = "text/event-stream";
const UNAUTHENTICATED = 401;
/** A wrong password says nothing about the session. */
const OF_PASSWORDS = /\/api\/auth\//;

/** Whether an answer or a body may take as long as it takes: events, and files that are sent. */
const isLong = ({ body, headers }: RequestInit): boolean =>
  new Headers(headers).get("accept") === EVENTS || (body !== undefined && body !== null && typeof body !== "string");

const urlOf = (input: string | URL | Request): string => (input instanceof Request ? input.url : String(input));

/** Answers that say all by their status: what was asked for goes on, or is done. */
const WITHOUT_BODY: ReadonlySet<number> = new Set([202, 204]);
/** All that the service says in answer to what this app asks. */
const OURS = /json|event-stream/;

/** Whether something between us and the service answered in its place: a sign-in page of a network, a proxy. */
const isForeign = ({ ok, status, headers }: Response): boolean =>
  ok && !WITHOUT_BODY.has(status) && !OURS.test(headers.get("content-type") ?? "");

/**
 * `fetch` that gives up when nothing answers (a connection may hang for ever), takes what somebody else answers for no
 * answer, and notices the end of a session.
 */
export const fetchInTime = async (input: string | URL | Request, init: RequestInit = {}): Promise<Response> => {
  const late = isLong(init) ? [] : [AbortSignal.timeout(ANSWER_MS)];
  const headers = headersOf(init.headers);
  const response = await fetch(input, { ...init, headers, signal: AbortSignal.any([...(init.signal ? [init.signal] : []), ...late]) });
  if (isForeign(response)) throw new TypeError("something else answered");
  if (response.status === UNAUTHENTICATED && !OF_PASSWORDS.test(urlOf(input))) endSession();
  return response;
};
