import { groupBy, type Reason } from "@nodeloom/kernel";
import type { z } from "zod";
import { ERRORS, WITHOUT_CODE } from "../http/error-table";
import { ERROR_PAGES, HTTP_STATUS_BY_REASON } from "../http/errors";
import { Content, type Route, type RouteHeader } from "../edge/route";
import { isStreamed } from "../http/body/kinds";
import { PROTOCOLS } from "../http/protocols";
import { COMPONENTS, type Components, type Json } from "./components";

const ACCEPTED = 202;
const NOT_MODIFIED = 304;
const STATUS_TEXT: Readonly<Record<number, string>> = {
  200: "Success",
  201: "Created",
  202: "Accepted; the run continues",
  204: "Success, without a body",
  303: "Follow `Location`",
};

const header = (description: string, type = "string"): Json => ({ description, schema: { type } });
const REQUEST_ID = { "X-Request-Id": header("Id of the request, also in the logs") };
const EXECUTION_ID = { "X-Execution-Id": header("The run's execution id") };
const RATE_LIMIT = {
  "X-RateLimit-Limit": header("Requests per window; absent for unlimited callers", "integer"),
  "X-RateLimit-Remaining": header("Requests left in the window", "integer"),
  "X-RateLimit-Reset": header("Unix epoch second when the window resets", "integer"),
};
const TAG = header("For If-None-Match");
const REPLIES: Partial<Record<RouteHeader, Json>> = {
  ETag: header("For If-Match. The part before the hyphen is the workflow's revision"),
  Link: header('The next page, as `<address>; rel="next"`; absent on the last one'),
  Location: header("Address of the created object"),
};
const REPLAYED = { "Idempotency-Replayed": header("`true` if this is the response to an earlier request with the same Idempotency-Key") };
const APPLIED = { "Preference-Applied": header("`respond-async`, if you requested it and it was applied") };
const AUTHENTICATE = { "WWW-Authenticate": header("How to authenticate") };
const RETRY_AFTER = { "Retry-After": header("Seconds to wait", "integer") };

/** Codes that are replayed under the same Idempotency-Key. */
const REPEATED: ReadonlySet<Reason> = new Set(["EXECUTION_FAILED", "INSUFFICIENT_CREDITS", "BUDGET_EXCEEDED"]);

/** Codes implied by a route's checks, and those it declares. */
export const reasonsOf = (route: Route): Reason[] => {
  const reasons: Reason[] = ["INVALID_REQUEST", "INTERNAL", "SERVICE_UNAVAILABLE"];
  const needsCredentials = route.auth !== "none" && route.auth !== "hook";
  if (needsCredentials)
    reasons.push("UNAUTHENTICATED", "LEGACY_KEY_RETIRED", "API_KEY_ACCESS_DENIED", "ACCOUNT_SUSPENDED", "RATE_LIMIT_EXCEEDED");
  if (route.auth === "session" || route.auth === "admin-session") reasons.push("SESSION_REQUIRED");
  if (route.auth === "admin" || route.auth === "admin-session") reasons.push("CAPABILITY_DENIED");
  if (needsCredentials && route.method !== "GET") reasons.push("CROSS_ORIGIN_DENIED");
  if (route.capability !== undefined) reasons.push("CAPABILITY_DENIED");
  // For members without the role, and for non-members.
  if (route.role !== "self") reasons.push("CAPABILITY_DENIED", "NOT_FOUND");
  if (route.limit !== "none") reasons.push("RATE_LIMIT_EXCEEDED");
  if (route.body && !isStreamed(route.body)) reasons.push("REQUEST_TIMEOUT", "PAYLOAD_TOO_LARGE", "CONCURRENCY_LIMIT_EXCEEDED");
  if (route.body?.kind === "json" || route.method !== "GET") reasons.push("UNSUPPORTED_MEDIA_TYPE");
  if (route.app === "visitors") reasons.push("NOT_FOUND", "CROSS_ORIGIN_DENIED");
  if (route.approval) reasons.push("ACCOUNT_NOT_APPROVED");
  if (route.idempotent) reasons.push("IDEMPOTENCY_KEY_REUSED");
  if (route.idempotent === "replay" || route.idempotent === "rebuild") reasons.push("IDEMPOTENCY_IN_PROGRESS");
  reasons.push(...(route.errors ?? []));
  // An account scheduled for deletion has the same restrictions as an unapproved one.
  if (reasons.includes("ACCOUNT_NOT_APPROVED")) reasons.push("ACCOUNT_LEAVING");
  return [...new Set(reasons)];
};

/** One line per error: code, cause and extra members. */
const errorLine = (reason: Reason): string => {
  const { when, members = {} } = ERRORS[reason];
  const code = WITHOUT_CODE.has(reason) ? "no code" : `\`${reason}\``;
  const names = Object.keys(members).map((name) => `\`${name}\``);
  return `- ${code}: ${when}${names.length === 0 ? "" : ` (${names.join(", ")})`}`;
};

const exampleOf = ({ protocol = "plain" }: Route, code: Reason): Json => {
  const body = WITHOUT_CODE.has(code) ? { error: "workflow not found" } : { error: "what went wrong", code, doc: `${ERROR_PAGES}${code}` };
  return PROTOCOLS[protocol].asError({ status: HTTP_STATUS_BY_REASON[code], headers: {}, body }).body;
};

export const errorResponses = (route: Route): Json => {
  const { statuses, errorSchema } = PROTOCOLS[route.protocol ?? "plain"];
  const byStatus = groupBy(reasonsOf(route), (reason) => statuses[reason] ?? HTTP_STATUS_BY_REASON[reason]);
  const responses: Json = {};
  for (const [status, reasons] of [...byStatus].sort(([a], [b]) => a - b)) {
    const exhausted = status === HTTP_STATUS_BY_REASON.RATE_LIMIT_EXCEEDED;
    const waits = exhausted || status === HTTP_STATUS_BY_REASON.SERVICE_UNAVAILABLE || reasons.includes("IDEMPOTENCY_IN_PROGRESS");
    const examples = reasons.map((code) => [
      code,
      {
        summary: ERRORS[code].when,
        value: exampleOf(route, code),
      },
    ]);
    responses[status] = {
      description: reasons.map(errorLine).join("\n"),
      headers: {
        ...REQUEST_ID,
        ...(route.startsRun ? EXECUTION_ID : {}),
        ...(status === HTTP_STATUS_BY_REASON.UNAUTHENTICATED ? AUTHENTICATE : {}),
        ...(exhausted ? RATE_LIMIT : {}),
        ...(waits ? RETRY_AFTER : {}),
        ...(route.startsRun && reasons.some((reason) => REPEATED.has(reason)) ? REPLAYED : {}),
      },
      content: {
        "application/json": {
          schema: { $ref: `${COMPONENTS}${errorSchema}` },
          examples: Object.fromEntries(examples) as Json,
        },
      },
    };
  }
  return responses;
};

const replyHeaders = ({ headers = [], idempotent, startsRun }: Route, status: number): Json => ({
  ...Object.fromEntries(headers.flatMap((name) => (REPLIES[name] ? [[name, REPLIES[name]]] : []))),
  ...(idempotent === "replay" || idempotent === "rebuild" ? REPLAYED : {}),
  ...(startsRun && status === ACCEPTED ? APPLIED : {}),
});

const JSON_TYPE = "application/json";

/** Every read has a tag, unless it is a stream. */
export const isRevalidated = ({ method, responses }: Route): boolean =>
  method === "GET" && !Object.values(responses).some((reply) => reply instanceof Content && !(JSON_TYPE in reply.types));

const notModified = (route: Route): Json => ({
  description: "Not modified: `If-None-Match` names the current version",
  headers: { ...REQUEST_ID, ...(route.limit === "none" ? {} : RATE_LIMIT), ETag: TAG, ...replyHeaders(route, NOT_MODIFIED) },
});

export const successResponses = (route: Route, components: Components): Json => ({
  ...successes(route, components),
  ...(isRevalidated(route) ? { [NOT_MODIFIED]: notModified(route) } : {}),
});

const contentOf = (reply: z.ZodType | Content, components: Components): Json => {
  const types = reply instanceof Content ? reply.types : { [JSON_TYPE]: reply };
  return Object.fromEntries(Object.entries(types).map(([type, each]) => [type, { schema: components.describe(each, "output") }]));
};

const successes = (route: Route, components: Components): Json =>
  Object.fromEntries(
    Object.entries(route.responses).map(([status, reply]) => [
      status,
      {
        description: STATUS_TEXT[Number(status)] ?? "Success",
        headers: {
          ...REQUEST_ID,
          ...(route.startsRun ? EXECUTION_ID : {}),
          ...(route.limit === "none" ? {} : RATE_LIMIT),
          ...(isRevalidated(route) ? { ETag: TAG } : {}),
          ...replyHeaders(route, Number(status)),
        },
        ...(reply ? { content: contentOf(reply, components) } : {}),
      },
    ]),
  );
