import type { Request, Response } from "express";
import type { Gateway } from "../gateway";
import type { Route } from "../http/route";
import type { Caller } from "./caller";
import { hookCaller } from "./hook";
import { roleOf } from "./roles";

/** Who sends a request to a route; undefined when it carries no credentials that the route takes. */
export const resolveCaller = async (gateway: Gateway, route: Route, request: Request, response: Response): Promise<Caller | undefined> => {
  if (route.auth === "hook") return hookCaller(gateway, request);
  const visitor = route.app === "visitors" ? await gateway.apps.visitor(request) : undefined;
  const { openAi, mcp } = route;
  return visitor ?? gateway.authentication.authenticate(request, response, { openAi, mcp, ofPerson: roleOf(route) === "self" });
};
