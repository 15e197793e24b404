import { randomUUID } from "node:crypto";
import { DomainError } from "@nodeloom/kernel";
import type { Request, RequestHandler, Response } from "express";
import { bodyMembers, readJsonBody, type JsonBody } from "./body";
import { authorize, type Caller } from "../auth/caller";
import { errorReply, isExpected } from "./errors";
import type { Gateway } from "../gateway";
import { idempotencyKey, type RenderedReply } from "./idempotency";
import { toJson } from "./json";
import { rateLimitHeaders } from "./rate";
import { STREAMED, type CallContext, type Reply, type Route } from "./route";
import { check, checkQuery } from "./validate";

const EXECUTION_ID = "X-Execution-Id";
const JSON_CONTENT_TYPE = "application/json; charset=utf-8";
/** Refusals that are counted against the address they came from. */
const BAD_CREDENTIALS: ReadonlySet<string> = new Set(["UNAUTHENTICATED", "LEGACY_KEY_RETIRED"]);
const ANONYMOUS = "anonymous";

const render = ({ status, body, headers = {} }: Reply): RenderedReply => ({
  status,
  headers: body === undefined ? headers : { "Content-Type": JSON_CONTENT_TYPE, ...headers },
  text: body === undefined ? "" : toJson(body),
});

/** Writes a reply. Headers that were set on the response before (request id, limits) stay. */
export const send = (response: Response, { status, headers, text }: RenderedReply): void => {
  if (response.headersSent) return void response.end();
  response.statusCode = status;
  for (const [name, value] of Object.entries(headers)) response.setHeader(name, value);
  if (text !== "") response.setHeader("Content-Length", Buffer.byteLength(text));
  response.end(text);
};

/** An error as a reply; one that nobody foresaw is logged. */
export const renderError = (error: unknown, gateway: Pick<Gateway, "logger">): RenderedReply => {
  if (!isExpected(error)) gateway.logger.error({ err: error }, "request failed");
  const { status, headers, body } = errorReply(error);
  return render({ status, body, headers: { ...headers, ...rateLimitHeaders(error) } });
};

const address = (request: Request): string => request.ip ?? "unknown";

/** The caller of a request. Refused credentials are limited per address. */
const authenticate = async (gateway: Gateway, route: Route, request: Request, response: Response): Promise<Caller | undefined> => {
  if (route.auth === "none") return undefined;
  const capability = typeof route.capability === "function" ? route.capability(request.params as Record<string, string>) : route.capability;
  try {
    const caller = await gateway.authentication.authenticate(request, response);
    authorize(caller, route.auth, capability);
    return caller;
  } catch (error) {
    if (error instanceof DomainError && BAD_CREDENTIALS.has(error.reason)) {
      const bucket = { key: `ip:${address(request)}:credentials`, points: gateway.anonymousLimit, tier: ANONYMOUS };
      await gateway.rateLimits.consume(bucket);
    }
    throw error;
  }
};

const countRequest = async (
  gateway: Gateway,
  route: Route,
  request: Request,
  caller: Caller | undefined,
): Promise<Record<string, string>> => {
  if (route.limit === "none") return {};
  const name = `${route.method} ${route.path}`;
  if (route.limit === "ip" || !caller) {
    const points = gateway.anonymousLimit;
    return gateway.rateLimits.consume({ key: `ip:${address(request)}:${name}`, points, tier: ANONYMOUS });
  }
  const { id, tier, plan } = caller.user;
  if (caller.isAdmin || plan.rateLimitPerMinute === null) return {};
  const suffix = route.limit === "user+id" && route.params?.schema.safeParse(request.params).success ? `:${String(request.params.id)}` : "";
  return gateway.rateLimits.consume({ key: `user:${id}:${name}${suffix}`, points: plan.rateLimitPerMinute, tier });
};

interface Checked {
  params: unknown;
  query: unknown;
  body: unknown;
}

const validate = (route: Route, request: Request, body: JsonBody): Checked => ({
  params: route.params ? check(route.params.schema, request.params, route.params.invalid) : {},
  body: route.body ? check(route.body, body.value, route.invalidBody) : undefined,
  query: route.query ? checkQuery(route.query, request.query) : {},
});

/** Runs the handler; under an Idempotency-Key at most once. */
const answer = async (gateway: Gateway, route: Route, context: CallContext, body: JsonBody): Promise<RenderedReply | undefined> => {
  const { request, response } = context;
  const key = route.idempotent === "replay" ? idempotencyKey(request.headers["idempotency-key"]) : undefined;
  if (key === undefined || !context.caller) {
    const reply = await route.handler(context);
    return reply === STREAMED ? undefined : render(reply);
  }
  const scope = `${context.caller.user.id} ${request.method} ${request.path}`;
  const content = `${JSON.stringify(context.query)}\n${body.text}`;
  return gateway.idempotency.once({ key, scope, content }, async (executionId) => {
    if (route.startsRun) response.setHeader(EXECUTION_ID, executionId);
    const headers: Record<string, string> = route.startsRun ? { [EXECUTION_ID]: executionId } : {};
    const rendered = await route.handler({ ...context, executionId }).then(
      (reply) => render(reply as Reply),
      (error: unknown) => renderError(error, gateway),
    );
    return { ...rendered, headers: { ...rendered.headers, ...headers } };
  });
};

/**
 * The checks of one request in their fixed order: body size and JSON, caller, capability, rate limit, shape. What needs
 * the resource itself (approval, existence, tier, async support, credits) follows in the handler and its services.
 */
const serve = async (gateway: Gateway, route: Route, request: Request, response: Response): Promise<RenderedReply | undefined> => {
  const receivedAtMs = Date.now();
  const executionId = route.startsRun ? randomUUID() : "";
  if (route.startsRun) response.setHeader(EXECUTION_ID, executionId);
  const body = route.body ? await readJsonBody(request, response) : { text: "", value: undefined };
  const caller = await authenticate(gateway, route, request, response);
  for (const [name, value] of Object.entries(await countRequest(gateway, route, request, caller))) response.setHeader(name, value);
  const checked = validate(route, request, body);
  let members: ReadonlyMap<string, string> | undefined;
  const context: CallContext = {
    ...checked,
    gateway,
    caller: caller as Caller,
    members: () => (members ??= bodyMembers(body)),
    executionId,
    receivedAtMs,
    logger: gateway.logger,
    request,
    response,
  };
  return answer(gateway, route, context, body);
};

/** The Express handler of a route. */
export const handle =
  (gateway: Gateway, route: Route): RequestHandler =>
  (request, response) => {
    serve(gateway, route, request, response)
      .catch((error: unknown) => renderError(error, gateway))
      .then((reply) => {
        if (reply) send(response, reply);
      })
      .catch((error: unknown) => {
        gateway.logger.error({ err: error }, "reply failed");
        response.destroy();
      });
  };
