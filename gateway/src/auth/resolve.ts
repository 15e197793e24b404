import type { Request, Response } from "express";
import type { Gateway } from "../gateway";
import type { Route } from "../http/route";
import type { Caller } from "./caller";
import { hookCaller } from "./hook";

/** Who sends a request to a route; undefined when it carries no credentials that the route takes. */
export const resolveCaller = async (
  gateway: Gateway,
  route: Pick<Route, "auth" | "app" | "openAi" | "mcp">,
  request: Request,
  response: Response,
): Promise<Caller | undefined> => {
  if (route.auth === "hook") return hookCaller(gateway, request);
  const visitor = route.app === "visitors" ? await gateway.apps.visitor(request) : undefined;
  return visitor ?? gateway.authentication.authenticate(request, response, route);
};
