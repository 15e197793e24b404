import type { Request } from "express";
import { authorize, requireApproved } from "../auth/caller";
import { bodyMembers, NO_BODY, type JsonBody } from "../http/body/body";
import { capabilitiesOf, validate } from "../edge/pipeline";
import { countOthersId, countRequest, noteOwnId } from "../edge/rate/counting";
import type { CallContext, Reply, Route } from "../edge/route";

export type McpContext = CallContext<"any", unknown, { models?: boolean | undefined }, unknown>;

export interface RouteCall {
  params?: Readonly<Record<string, unknown>>;
  query?: Readonly<Record<string, unknown>>;
  /** JSON as it was sent. */
  body?: string;
  /** Id as in CallContext. */
  executionId?: string;
  fingerprint?: string;
  /** Value of `If-Match`. The header of the message itself is never used. */
  ifMatch?: string;
}

/** The message's request, with the headers of a call. */
const requestFor = (request: Request, ifMatch: string | undefined): Request => {
  const { "if-match": _, ...headers } = request.headers;
  const value = ifMatch === undefined ? headers : { ...headers, "if-match": ifMatch };
  return Object.create(request, { headers: { value } }) as Request;
};

const bodyOf = (text: string | undefined): JsonBody => (text === undefined ? NO_BODY : { text, value: JSON.parse(text) as unknown });

/**
 * Calls a route on behalf of another request's caller, with all its checks in order (capability, rate limit, shape, approval).
 * @throws DomainError as the route does
 */
export const callRoute = async (context: CallContext<"any">, route: Route, call: RouteCall): Promise<Reply> => {
  const { gateway, caller, request } = context;
  const addressed = {
    ip: request.ip,
    params: (call.params ?? {}) as Record<string, string>,
    query: { ...call.query } as Record<string, string>,
  };
  for (const capability of capabilitiesOf(route, addressed)) authorize(caller, route, capability);
  await countRequest(gateway, route, addressed, caller);
  const body = bodyOf(call.body);
  const checked = validate(route, addressed, body);
  if (route.approval) requireApproved(caller);
  try {
    const { executionId = "", fingerprint = "" } = call;
    const called = { ...context, ...checked, request: requestFor(request, call.ifMatch) };
    const reply = await route.handler({ ...called, members: () => bodyMembers(body), executionId, fingerprint });
    if (typeof reply === "symbol") throw new Error(`${route.operationId} streams its answer`);
    if (route.limit === "user+id") noteOwnId(gateway, route, addressed, caller);
    return reply;
  } catch (error) {
    throw await countOthersId(gateway, route, addressed, { caller, error });
  }
};
