import { DomainError } from "@nodeloom/kernel";
import type { Request } from "express";
import { ADMIN, countedAs, type Caller, type CallerVisitor } from "../../auth/caller";
import type { Gateway } from "../gateway";
import { VISITOR_REQUESTS_PER_MINUTE } from "../../apps/limits";
import { errorReply } from "../../http/errors";
import type { Route } from "../route";
import type { Bucket } from "./rate";

/** Rate-limit buckets of requests. */

const ANONYMOUS = "anonymous";
const FIRST_SERVER_ERROR = 500;

type Counter = Pick<Gateway, "rateLimits" | "anonymousLimit" | "ownIds">;
type AddressedRequest = Pick<Request, "ip" | "params">;

export const addressOf = (request: Pick<Request, "ip">): string => request.ip ?? "unknown";

const ofAddress = (gateway: Counter, request: AddressedRequest, name: string, points = gateway.anonymousLimit): Bucket => ({
  key: `ip:${addressOf(request)}:${name}`,
  points,
  tier: ANONYMOUS,
});

/**
 * Counts a request without a caller against its address.
 * @param name name of the counter
 * @returns the X-RateLimit headers
 * @throws RATE_LIMIT_EXCEEDED
 */
export const countByAddress = (gateway: Counter, request: Request, name: string): Promise<Record<string, string>> =>
  gateway.rateLimits.consume(ofAddress(gateway, request, name));

/**
 * Counts a request that failed before its caller was known against its address.
 * @returns the error, or RATE_LIMIT_EXCEEDED after too many
 */
export const countRefusal = async (gateway: Counter, request: AddressedRequest, error: unknown): Promise<unknown> => {
  if (errorReply(error).status >= FIRST_SERVER_ERROR) return error;
  return gateway.rateLimits.consume(ofAddress(gateway, request, "refused")).then(
    () => error,
    (exceeded: unknown) => exceeded,
  );
};

interface LimitedRequest {
  route: Route;
  request: AddressedRequest;
  caller: Caller;
  points: number;
}

/** The tier's limit, counted per person, or for all service accounts of an account together; undefined for callers without a tier. */
const limited = (route: Route, request: AddressedRequest, caller: Caller | undefined): LimitedRequest | undefined => {
  const points = caller && caller.person.role !== ADMIN && !caller.visitor ? caller.user.plan.rateLimitPerMinute : null;
  return caller && points !== null ? { route, request, caller, points } : undefined;
};

/** Shared bucket for requests with ids that aren't the caller's. */
const ofOthers = ({ caller, points }: LimitedRequest): Bucket => ({
  key: `${countedAs(caller)}:others`,
  points,
  tier: caller.user.tier,
});

const idOf = ({ route, request }: Pick<LimitedRequest, "route" | "request">): string | undefined =>
  route.limit === "user+id" && route.params?.schema.safeParse(request.params).success ? String(request.params.id) : undefined;

const bucketOf = (gateway: Counter, count: LimitedRequest): Bucket => {
  const { route, caller, points } = count;
  const { tier } = caller.user;
  const counted = countedAs(caller);
  const name = `${route.method} ${route.path}`;
  if (route.limit !== "user+id") return { key: `${counted}:${name}`, points, tier };
  const id = idOf(count);
  if (id === undefined) return ofOthers(count);
  // A caller who has exhausted this bucket can't look up unknown ids.
  if (!gateway.ownIds.has(caller.user.id, id)) gateway.rateLimits.refuseExhausted(ofOthers(count));
  return { key: `${counted}:${name}:${id}`, points, tier };
};

/**
 * Visitors of an app count individually and against their address. They don't use up the owner's limit, because there can be any number of
 * them.
 */
const countVisitor = async (
  gateway: Counter,
  route: Route,
  request: AddressedRequest,
  visitor: CallerVisitor,
): Promise<Record<string, string>> => {
  const name = `${route.method} ${route.path}`;
  await gateway.rateLimits.consume(ofAddress(gateway, request, `app ${name}`));
  const key = JSON.stringify(["app", visitor.slug, visitor.id, name, idOf({ route, request }) ?? ""]);
  return gateway.rateLimits.consume({ key, points: VISITOR_REQUESTS_PER_MINUTE, tier: "app" });
};

/** Undefined if the address has the default limit of routes without a caller. */
const addressLimit = (gateway: Gateway, { limit }: Route): number | undefined => {
  if (typeof limit !== "object") return undefined;
  return typeof limit.ip === "function" ? limit.ip(gateway) : limit.ip;
};

/**
 * Counts a request.
 * @returns the X-RateLimit headers
 * @throws RATE_LIMIT_EXCEEDED
 */
export const countRequest = async (
  gateway: Gateway,
  route: Route,
  request: AddressedRequest,
  caller: Caller | undefined,
): Promise<Record<string, string>> => {
  if (route.limit === "none") return {};
  const isOfAddress = typeof route.limit === "object" || route.limit === "ip";
  if (isOfAddress || !caller) {
    return gateway.rateLimits.consume(ofAddress(gateway, request, `${route.method} ${route.path}`, addressLimit(gateway, route)));
  }
  if (caller.visitor) return countVisitor(gateway, route, request, caller.visitor);
  const count = limited(route, request, caller);
  return count ? gateway.rateLimits.consume(bucketOf(gateway, count)) : {};
};

/** Remembers that the id in a request was the caller's. */
export const noteOwnId = (gateway: Counter, route: Route, request: AddressedRequest, caller: Caller | undefined): void => {
  const id = idOf({ route, request });
  if (caller && id !== undefined) gateway.ownIds.add(caller.user.id, id);
};

/** Counts a request with a foreign id. @returns the error, or RATE_LIMIT_EXCEEDED after too many */
export const countOthersId = async (
  gateway: Counter,
  route: Route,
  request: AddressedRequest,
  { caller, error }: { caller: Caller | undefined; error: unknown },
): Promise<unknown> => {
  const count = limited(route, request, caller);
  const isOthers = error instanceof DomainError && error.reason === "EXECUTION_NOT_FOUND" && idOf({ route, request }) !== undefined;
  if (!count || !isOthers) return error;
  return gateway.rateLimits.consume(ofOthers(count)).then(
    () => error,
    (exceeded: unknown) => exceeded,
  );
};
