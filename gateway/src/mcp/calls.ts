import { authorize, requireApproved } from "../auth/caller";
import { bodyMembers, NO_BODY, type JsonBody } from "../http/body/body";
import { capabilitiesOf, validate } from "../edge/pipeline";
import { countOthersId, countRequest, noteOwnId } from "../edge/rate/counting";
import type { CallContext, Reply, Route } from "../edge/route";

/** The request that carries a call. */
export type McpContext = CallContext<"any", unknown, { models?: boolean | undefined }, unknown>;

/** What a call asks of a route. */
export interface RouteCall {
  params?: Readonly<Record<string, unknown>>;
  query?: Readonly<Record<string, unknown>>;
  /** JSON as it was sent. */
  body?: string;
  /** As in CallContext. */
  executionId?: string;
  fingerprint?: string;
}

const bodyOf = (text: string | undefined): JsonBody => (text === undefined ? NO_BODY : { text, value: JSON.parse(text) as unknown });

/**
 * Performs one call of a route for the caller of another request: with the checks of a request to it, in their order (capability,
 * rate limit, shape, approval), after those that the carrying request has passed.
 * @throws DomainError as the route does
 */
export const callRoute = async (context: McpContext, route: Route, call: RouteCall): Promise<Reply> => {
  const { gateway, caller, request } = context;
  const addressed = {
    ip: request.ip,
    params: (call.params ?? {}) as Record<string, string>,
    query: { ...call.query } as Record<string, string>,
  };
  for (const capability of capabilitiesOf(route, addressed)) authorize(caller, route.auth, capability);
  await countRequest(gateway, route, addressed, caller);
  const body = bodyOf(call.body);
  const checked = validate(route, addressed, body);
  if (route.approval) requireApproved(caller);
  try {
    const { executionId = "", fingerprint = "" } = call;
    const reply = await route.handler({ ...context, ...checked, members: () => bodyMembers(body), executionId, fingerprint });
    if (typeof reply === "symbol") throw new Error(`${route.operationId} streams its answer`);
    if (route.limit === "user+id") noteOwnId(gateway, route, addressed, caller);
    return reply;
  } catch (error) {
    throw await countOthersId(gateway, route, addressed, { caller, error });
  }
};
