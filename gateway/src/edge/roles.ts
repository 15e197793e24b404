import { ROLES, withinRole } from "@nodeloom/kernel";
import type { Route } from "./route";
import type { Needed } from "../auth/caller";

/** Stands for whatever a path may name. */
const ANY_NAME = new Proxy<Record<string, string>>({}, { get: () => "any" });

const derive = ({ role, auth, tag, method, path, capability }: Route): Needed => {
  if (role !== undefined) return role;
  if (auth === "none" || auth === "hook" || auth === "admin" || auth === "admin-session") return "self";
  if (tag === "Identity" || path.startsWith("/api/organizations") || path.startsWith("/api/invitations")) return "self";
  const needed = typeof capability === "function" ? capability(ANY_NAME) : capability;
  if (needed === undefined) return method === "GET" ? "viewer" : "owner";
  return ROLES.filter((one) => withinRole([needed], one).length > 0).at(-1) ?? "owner";
};

const derived = new WeakMap<Route, Needed>();

/**
 * The role that a route needs. Where the route does not say it: the least that has the capability which it needs; without one a viewer
 * to read, and an owner for all else, so that a route without a role is closed to most.
 */
export const roleOf = (route: Route): Needed => {
  const known = derived.get(route);
  if (known !== undefined) return known;
  const needed = derive(route);
  derived.set(route, needed);
  return needed;
};
