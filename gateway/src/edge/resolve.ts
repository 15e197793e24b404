import type { Request, Response } from "express";
import type { Caller } from "../auth/caller";
import { hookCaller } from "../auth/hook";
import { credentialsMissing } from "../http/errors";
import { PROTOCOLS } from "../http/protocols";
import type { Gateway } from "./gateway";
import type { Route } from "./route";

/** Resolves the caller of a route; undefined if it needs none. @throws UNAUTHENTICATED, and the errors of the credentials */
export const resolveCaller = async (
  gateway: Gateway,
  { auth, app, protocol = "plain", role }: Pick<Route, "auth" | "app" | "protocol" | "role">,
  request: Request,
  response: Response,
): Promise<Caller | undefined> => {
  if (auth === "hook") return hookCaller(gateway, request);
  const visitor = app === "visitors" ? await gateway.apps.visitor(request) : undefined;
  const { keySchemes } = PROTOCOLS[protocol];
  const caller = visitor ?? (await gateway.authentication.authenticate(request, response, { keySchemes, ofPerson: role === "self" }));
  if (!caller && auth !== "none") throw credentialsMissing(request.headers.authorization, keySchemes[0]);
  return caller;
};
