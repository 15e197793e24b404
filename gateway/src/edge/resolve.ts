import type { Request, Response } from "express";
import type { Caller } from "../auth/caller";
import { hookCaller } from "../auth/hook";
import { PROTOCOLS } from "../http/protocols";
import type { Gateway } from "./gateway";
import type { Route } from "./route";

/** Resolves the caller of a route; undefined without accepted credentials. */
export const resolveCaller = async (
  gateway: Gateway,
  { auth, app, protocol = "plain", role }: Pick<Route, "auth" | "app" | "protocol" | "role">,
  request: Request,
  response: Response,
): Promise<Caller | undefined> => {
  if (auth === "hook") return hookCaller(gateway, request);
  const visitor = app === "visitors" ? await gateway.apps.visitor(request) : undefined;
  const { keySchemes } = PROTOCOLS[protocol];
  return visitor ?? gateway.authentication.authenticate(request, response, { keySchemes, ofPerson: role === "self" });
};
