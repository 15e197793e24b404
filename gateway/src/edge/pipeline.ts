import { randomUUID } from "node:crypto";
import { invalidRequest } from "@nodeloom/kernel";
import type { Request, RequestHandler, Response } from "express";
import { authorize, countedAs, idempotencyOwner, requireApproved, type Caller, type RequiredCapability } from "../auth/caller";
import { resolveCaller } from "./resolve";
import type { Gateway } from "./gateway";
import { askForBody, bodyMembers, NO_BODY, readJsonBody, readRawBody, type BodyOptions, type JsonBody } from "../http/body/body";
import { bodyLimit, checkHead, valueLimit } from "../http/body/head";
import { isStreamed } from "../http/body/kinds";
import { surrogateIssues } from "../http/body/well-formed";
import { idempotencyKey, type RenderedReply } from "./idempotency";
import type { RequestOutcome } from "./key-requests";
import { fingerprintOf, keyedId, resourceOf } from "./lease";
import { addressOf, countOthersId, countRefusal, countRequest, noteOwnId } from "./rate/counting";
import type { SentAddresses } from "./media-urls";
import { render, renderError, send } from "./reply";
import { hourlyTag, revalidate } from "./revalidation";
import { noteRefused } from "./refused";
import { STREAMED, type CallContext, type Reply, type Route } from "./route";
import { PROTOCOLS } from "../http/protocols";
import { check, checkQuery } from "../http/validate";

const EXECUTION_ID = "X-Execution-Id";
const FIRST_ERROR = 400;

export type RequestNames = Pick<Request, "params" | "query">;

/** Capabilities that a request needs; undefined for none. */
export const capabilitiesOf = ({ capability }: Route, { params }: Pick<RequestNames, "params">): RequiredCapability[] =>
  [capability].flat().map((each) => {
    if (typeof each === "object") return each.anyOf;
    return typeof each === "function" ? each(params as Record<string, string>) : each;
  });

/** Authenticates the caller. Earlier failures count against the address. */
const admit = async (
  gateway: Gateway,
  route: Route,
  request: Request,
  { response, outcome }: { response: Response; outcome: RequestOutcome },
): Promise<Caller | undefined> => {
  let caller: Caller | undefined;
  try {
    checkHead(route, request);
    if (route.auth === "none") return undefined;
    if (PROTOCOLS[route.protocol ?? "plain"].refusesOtherOrigins) gateway.sessions.checkOrigin(request, false);
    caller = await resolveCaller(gateway, route, request, response);
    outcome.caller = caller;
    for (const capability of capabilitiesOf(route, request)) authorize(caller, route, capability);
    return caller;
  } catch (error) {
    noteRefused(gateway, route, { response, caller }, error);
    throw caller ? error : await countRefusal(gateway, request, error);
  }
};

interface Incoming {
  request: Request;
  response: Response;
  caller: Caller | undefined;
  receivedAtMs: number;
}

const bodyOptions = (gateway: Gateway, route: Route, { request, caller, receivedAtMs }: Incoming): BodyOptions => {
  const share = gateway.bodies.open(caller && !caller.visitor ? countedAs(caller) : `ip:${addressOf(request)}`);
  return {
    limitBytes: bodyLimit(route),
    maxValues: valueLimit(route.body ?? {}),
    deadlineAtMs: receivedAtMs + gateway.bodyTimeoutMs,
    share,
  };
};

interface CheckedParts {
  params: unknown;
  query: unknown;
  body: unknown;
}

const checkBody = ({ body, query }: Route, sentBody: JsonBody): unknown => {
  if (body?.kind !== "json") return undefined;
  const { schema, lossless, invalid = invalidRequest } = body;
  const issues = surrogateIssues(sentBody, lossless);
  if (issues.length > 0) throw invalid(issues);
  return check(schema, sentBody.value, invalid, query);
};

/** @throws DomainError for invalid parameters, body or query */
export const validate = (route: Route, request: RequestNames, body: JsonBody): CheckedParts => ({
  params: route.params ? check(route.params.schema, request.params, route.params.invalid) : {},
  body: checkBody(route, body),
  query: route.query ? checkQuery(route.query, request.query) : {},
});

/** Answers a request under a key from the resource with the key's id, and creates the resource if it doesn't exist. */
const rebuild = async (route: Route, context: CallContext, key: string, fingerprint: string): Promise<RenderedReply> => {
  const { gateway, caller, params, response } = context;
  const executionId = keyedId(idempotencyOwner(caller!), resourceOf(route.method, route.path, params), key);
  if (route.startsRun) response.setHeader(EXECUTION_ID, executionId);
  const work = async (): Promise<RenderedReply> => render((await route.handler({ ...context, executionId, fingerprint })) as Reply);
  return gateway.leases.hold(executionId, fingerprint, work);
};

/** Runs the handler, at most once under an Idempotency-Key. */
const answer = async (gateway: Gateway, route: Route, context: CallContext, body: JsonBody): Promise<RenderedReply | undefined> => {
  const { request, response } = context;
  const isKept = route.idempotent === "replay" || route.idempotent === "rebuild";
  const key = isKept ? idempotencyKey(request.headers["idempotency-key"]) : undefined;
  if (key === undefined || !context.caller) {
    const reply = await route.handler(context);
    return reply === STREAMED ? undefined : render(reply);
  }
  const fingerprint = fingerprintOf(context.query, body.text);
  if (route.idempotent === "rebuild") return rebuild(route, context, key, fingerprint);
  const scope = `${idempotencyOwner(context.caller)} ${resourceOf(route.method, route.path, context.params)}`;
  return gateway.idempotency.once({ key, owner: context.caller.user.id, scope, fingerprint }, async (executionId) => {
    if (route.startsRun) response.setHeader(EXECUTION_ID, executionId);
    const headers: Record<string, string> = route.startsRun ? { [EXECUTION_ID]: executionId } : {};
    const rendered = await route.handler({ ...context, executionId }).then(
      (reply) => render(reply as Reply),
      (error: unknown) => {
        noteRefused(gateway, route, context, error);
        return renderError(error, gateway, route.protocol);
      },
    );
    return { ...rendered, headers: { ...rendered.headers, ...headers } };
  });
};

/** A body as it is stored, hashed and compared, with unsigned addresses of files. */
const withoutSignatures = (gateway: Gateway, jsonBody: JsonBody): { body: JsonBody; urls: SentAddresses["urls"] } => {
  const { text, urls } = gateway.mediaUrls.enter(jsonBody.text);
  return { body: text === jsonBody.text ? jsonBody : { text, value: JSON.parse(text) }, urls };
};

/** Signs the addresses in a reply. Its own entity tag then includes the hour, so that no 304 confirms expired addresses. */
const withSignatures = async (gateway: Gateway, reply: RenderedReply, caller: Caller | undefined): Promise<RenderedReply> => {
  const text = await gateway.mediaUrls.leave(reply.text, caller);
  if (text === reply.text) return reply;
  const { ETag: tag, ...headers } = reply.headers;
  return { ...reply, text, headers: tag === undefined ? headers : { ...headers, ETag: hourlyTag(tag) } };
};

/** Remembers that an execution belongs to the caller, so that polling it doesn't count as guessing ids. */
const noteOwner = (gateway: Gateway, route: Route, { request, response, caller }: Incoming, reply: RenderedReply | undefined): void => {
  if (route.limit === "user+id") noteOwnId(gateway, route, request, caller);
  const started = route.startsRun && (reply?.status ?? 0) < FIRST_ERROR ? response.getHeader(EXECUTION_ID) : undefined;
  if (caller && typeof started === "string") gateway.ownIds.add(caller.user.id, started);
};

/**
 * Checks a request in a fixed order: headers including declared size and encoding, caller, capability, rate limit, body, shape, approval
 * (before the body of an upload). Checks that need the resource (existence, tier, async support, credits) follow in the handler and its
 * services.
 */
const serve = async (
  gateway: Gateway,
  route: Route,
  request: Request,
  { response, outcome }: { response: Response; outcome: RequestOutcome },
): Promise<RenderedReply | undefined> => {
  const receivedAtMs = Date.now();
  const executionId = route.startsRun ? randomUUID() : "";
  if (route.startsRun) response.setHeader(EXECUTION_ID, executionId);
  const caller = await admit(gateway, route, request, { response, outcome });
  const received = { request, response, caller, receivedAtMs };
  for (const [name, value] of Object.entries(await countRequest(gateway, route, request, caller))) response.setHeader(name, value);
  if (route.approval && isStreamed(route.body)) requireApproved(caller);
  const kind = route.body?.kind;
  const jsonBody = kind === "json" ? await readJsonBody(request, response, bodyOptions(gateway, route, received)) : NO_BODY;
  const { body, urls } = withoutSignatures(gateway, jsonBody);
  const checked = validate(route, request, body);
  if (kind === "signed") checked.body = await readRawBody(request, response, bodyOptions(gateway, route, received));
  if (route.approval) requireApproved(caller);
  if (urls.length > 0) await gateway.mediaUrls.admit(urls, caller, { value: body.value, forRun: route.startsRun === true });
  if (isStreamed(route.body)) askForBody(request, response);
  let members: ReadonlyMap<string, string> | undefined;
  const context: CallContext = {
    ...checked,
    gateway,
    caller: caller as Caller,
    members: () => (members ??= bodyMembers(body)),
    executionId,
    fingerprint: "",
    receivedAtMs,
    logger: gateway.logger,
    request,
    response,
  };
  try {
    const reply = await answer(gateway, route, context, body);
    noteOwner(gateway, route, received, reply);
    const signedReply = reply && (await withSignatures(gateway, reply, caller));
    return signedReply && route.method === "GET" ? revalidate(request, response, signedReply) : signedReply;
  } catch (error) {
    noteRefused(gateway, route, received, error);
    throw await countOthersId(gateway, route, request, { caller, error });
  }
};

export const handle =
  (gateway: Gateway, route: Route): RequestHandler =>
  (request, response) => {
    const outcome: RequestOutcome = {};
    gateway.keyRequests.follow({ route, response, outcome });
    serve(gateway, route, request, { response, outcome })
      .catch((error: unknown) => {
        outcome.error = error;
        return renderError(error, gateway, route.protocol);
      })
      .then((reply) => {
        outcome.reply = reply;
        if (reply) send(response, reply);
      })
      .catch((error: unknown) => {
        gateway.logger.error({ err: error }, "reply failed");
        response.destroy();
      });
  };
