import { randomUUID } from "node:crypto";
import { isByName, isRole, roleReaches, type Role } from "@nodeloom/kernel";
import type { Route } from "../../src/edge/route";
import { routes } from "../../src/endpoints";
import { send, type Answer, type RequestOptions } from "../support/http";
import type { Platform } from "../support/platform";
import { memberOf, type Cast } from "./cast";

/**
 * The tenancy table: requests every route for an organization's data in each role, as a stranger, as a suspended member, and with the key
 * of another organization. Roles without access come first, because the others delete data.
 */
const ACTORS = ["stranger", "suspended", "other key", "other key elsewhere", "viewer", "runner", "editor", "owner"] as const;
type Actor = (typeof ACTORS)[number];
const PARALLEL = 8;

interface Scene {
  platform: Platform;
  cast: Cast;
}

/** Values of `:id` by the preceding path segment. */
const ids = ({ id, owned }: Cast): Record<string, string> => ({
  keys: owned.keyId,
  folders: owned.folderId,
  media: owned.mediaId,
  budgets: owned.budgetId,
  executions: owned.executionId,
  organizations: id,
});

const pathOf = (cast: Cast, path: string): string =>
  path.replace(/([a-z-]+)\/:(\w+)/g, (_all, before: string, parameter: string) => {
    const params: Record<string, string> = { slug: cast.owned.slug, internalName: "sandbox-image", name: cast.owned.secret, version: "1" };
    return `${before}/${parameter === "id" ? (ids(cast)[before] ?? randomUUID()) : (params[parameter] ?? cast.suspended.id)}`;
  });

const headersOf = ({ platform, cast }: Scene, actor: Actor): Record<string, string> => {
  if (actor === "other key") return { "x-api-key": cast.otherKey, "x-organization": cast.id };
  return actor === "other key elsewhere" ? { "x-api-key": cast.otherKey } : memberOf(platform, cast[actor], cast.id);
};

/** Bodies that are rejected after all checks of the caller. So nothing is created, but the named resources are deleted. */
const ask = (subject: Scene, actor: Actor, { method, path }: Pick<Route, "method" | "path">): Promise<Answer> => {
  const options: RequestOptions = {
    method,
    headers: headersOf(subject, actor),
    ...(method === "GET" || method === "DELETE" ? {} : { json: { unknown: 1 } }),
  };
  return send(subject.platform.baseUrl, pathOf(subject.cast, path), options);
};

type Outcome = "admitted" | "no member" | "role" | "capability" | "suspended" | "session required" | "elsewhere";

const outcomeOf = ({ status, text }: Answer): Outcome => {
  if (status === 403 && text.includes("requiredRole")) return "role";
  if (status === 403 && text.includes("CAPABILITY_DENIED")) return "capability";
  if (status === 403 && text.includes("ACCOUNT_SUSPENDED")) return "suspended";
  if (status === 403 && text.includes("SESSION_REQUIRED")) return "session required";
  if (status === 404 && text.includes("organization not found")) return "no member";
  return status === 401 || status === 403 ? "elsewhere" : "admitted";
};

const namesOf = ({ id, owned }: Cast): string[] => [
  id,
  owned.slug,
  owned.folderId,
  owned.keyId,
  owned.mediaId,
  owned.budgetId,
  owned.secret,
];

/** True if a response's body or status reveals that the organization has a resource. */
const revealsName = (cast: Cast, { status, text }: Answer, { path, method }: Route): boolean =>
  namesOf(cast).some((name) => text.includes(name)) || (path.includes(":") && method === "DELETE" && status < 300);

/** The other key has a preset, which doesn't include capabilities granted by name. */
const isOfPresets = ({ capability }: Pick<Route, "capability">): boolean => typeof capability !== "string" || !isByName(capability);

const expected = (actor: Actor, route: Pick<Route, "auth" | "capability">, needed: Role): Outcome => {
  if (isRole(actor)) return roleReaches(actor, needed) ? "admitted" : "role";
  if (actor === "suspended") return "suspended";
  if (actor === "other key elsewhere" && route.auth === "session") return "session required";
  if (actor === "other key elsewhere") return isOfPresets(route) ? "admitted" : "capability";
  return "no member";
};

const inTurn = async <T, R>(items: readonly T[], work: (item: T) => Promise<R>): Promise<R[]> => {
  const results: R[] = [];
  const queue = items.entries();
  const worker = async (): Promise<void> => {
    for (const [index, item] of queue) results[index] = await work(item);
  };
  await Promise.all(Array.from({ length: PARALLEL }, worker));
  return results;
};

/**
 * Requests every route.
 * @returns the number of checked responses, and the wrong ones
 */
export const checkTenancy = async (subject: Scene): Promise<{ checks: number; wrong: string[] }> => {
  const table = routes.flatMap((route) => (route.role === "self" ? [] : [{ route, needed: route.role }]));
  const wrong: string[] = [];
  let checks = 0;
  for (const actor of ACTORS) {
    await inTurn(table, async ({ route, needed }) => {
      const answer = await ask(subject, actor, route);
      checks += 1;
      const outcome = outcomeOf(answer);
      const expectedOutcome = expected(actor, route, needed);
      const isSeen = !isRole(actor) && revealsName(subject.cast, answer, route);
      if (outcome !== expectedOutcome || isSeen)
        wrong.push(
          `${actor}: ${route.method} ${route.path} ${expectedOutcome}, not ${outcome} (${answer.status} ${answer.text.slice(0, 200)})`,
        );
    });
  }
  return { checks, wrong };
};

/** Responses of the routes about organizations by role. */
const OWN: readonly [Route["method"], string, Role][] = [
  ["GET", "/api/organizations/:id", "viewer"],
  ["PATCH", "/api/organizations/:id", "owner"],
  ["DELETE", "/api/organizations/:id", "owner"],
  ["POST", "/api/organizations/:id/restore", "owner"],
  ["GET", "/api/organizations/:id/members", "viewer"],
  ["PATCH", "/api/organizations/:id/members/:userId", "owner"],
  ["DELETE", "/api/organizations/:id/members/:userId", "owner"],
  ["GET", "/api/organizations/:id/service-accounts", "owner"],
  ["POST", "/api/organizations/:id/service-accounts", "owner"],
  ["PATCH", "/api/organizations/:id/service-accounts/:accountId", "owner"],
  ["DELETE", "/api/organizations/:id/service-accounts/:accountId", "owner"],
  ["GET", "/api/organizations/:id/invitations", "owner"],
  ["POST", "/api/organizations/:id/invitations", "owner"],
  ["DELETE", "/api/organizations/:id/invitations/:invitationId", "owner"],
  ["GET", "/api/organizations/:id/audit", "owner"],
  ["GET", "/api/organizations/:id/audit/export", "owner"],
];
const VALID: Readonly<Record<string, unknown>> = {
  "PATCH /api/organizations/:id": { name: "Loom Works" },
  "PATCH /api/organizations/:id/members/:userId": { role: "editor" },
  "POST /api/organizations/:id/service-accounts": { name: "Deploys", capabilities: ["workflow:read"] },
  "PATCH /api/organizations/:id/service-accounts/:accountId": { name: "Deploys" },
  "POST /api/organizations/:id/invitations": { role: "viewer" },
};

/** Routes about organizations that are missing in the table. */
export const unknownRoutes = (): string[] =>
  routes.flatMap(({ method, path }) =>
    path.startsWith("/api/organizations/") && !OWN.some(([knownMethod, knownPath]) => knownMethod === method && knownPath === path)
      ? [`${method} ${path}`]
      : [],
  );

/**
 * Requests the routes about the organization.
 * @returns actual and expected responses
 */
export const checkManagement = async (subject: Scene): Promise<{ actual: string[]; expected: string[] }> => {
  const { platform, cast } = subject;
  const actual: string[] = [];
  const expectedLines: string[] = [];
  for (const actor of ACTORS) {
    for (const [method, path, needed] of OWN) {
      const json = VALID[`${method} ${path}`];
      const answer = await platform.send(pathOf(cast, path), {
        method,
        headers: headersOf(subject, actor),
        ...(json === undefined ? {} : { json }),
      });
      const outcome = actor.startsWith("other key") ? "session required" : expected(actor, { auth: "session" }, needed);
      actual.push(`${actor} ${method} ${path} ${outcomeOf(answer)}`);
      expectedLines.push(`${actor} ${method} ${path} ${outcome}`);
    }
  }
  return { actual, expected: expectedLines };
};
