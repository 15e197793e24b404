import type { Request, Response } from "express";
import type { Gateway } from "./gateway";
import type { Route } from "./route";
import type { Caller } from "../auth/caller";
import { hookCaller } from "../auth/hook";

/**
 * Who sends a request to a route; undefined when it carries no credentials that the route takes.
 * @param ofPerson whether the route is about the person alone, whatever organization the request names
 */
export const resolveCaller = async (
  gateway: Gateway,
  { auth, app, openAi, mcp }: Pick<Route, "auth" | "app" | "openAi" | "mcp">,
  request: Request,
  response: Response,
  ofPerson = false,
): Promise<Caller | undefined> => {
  if (auth === "hook") return hookCaller(gateway, request);
  const visitor = app === "visitors" ? await gateway.apps.visitor(request) : undefined;
  return visitor ?? gateway.authentication.authenticate(request, response, { openAi, mcp, ofPerson });
};
