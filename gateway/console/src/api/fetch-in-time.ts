import { headersOf } from "./organization";
import { endSession } from "./session";

/** Longer than any immediate response of the service. */
const ANSWER_MS = 60_000;
const EVENTS = "text/event-stream";
const UNAUTHENTICATED = 401;
/** A wrong password doesn't show that the session has ended. */
const OF_PASSWORDS = /\/api\/auth\//;

/** True for responses and bodies without a deadline: events and uploads. */
const isLong = ({ body, headers }: RequestInit): boolean =>
  new Headers(headers).get("accept") === EVENTS || (body !== undefined && body !== null && typeof body !== "string");

const urlOf = (input: string | URL | Request): string => (input instanceof Request ? input.url : String(input));

/** Statuses without a body. */
const WITHOUT_BODY: ReadonlySet<number> = new Set([202, 204]);
/** Content types of the service's responses. */
const OURS = /json|event-stream/;

/** True if a proxy or a network's sign-in page answered instead of the service. */
const isForeign = ({ ok, status, headers }: Response): boolean =>
  ok && !WITHOUT_BODY.has(status) && !OURS.test(headers.get("content-type") ?? "");

/**
 * `fetch` with a deadline, because a connection can hang forever. A response that isn't from the service counts as no response. The end of
 * a session is reported.
 */
export const fetchInTime = async (input: string | URL | Request, init: RequestInit = {}): Promise<Response> => {
  const late = isLong(init) ? [] : [AbortSignal.timeout(ANSWER_MS)];
  const headers = headersOf(init.headers);
  const response = await fetch(input, { ...init, headers, signal: AbortSignal.any([...(init.signal ? [init.signal] : []), ...late]) });
  if (isForeign(response)) throw new TypeError("something else answered");
  if (response.status === UNAUTHENTICATED && !OF_PASSWORDS.test(urlOf(input))) endSession();
  return response;
};
