import { unlessNotFound } from "@nodeloom/kernel";
import type { identity } from "@nodeloom/proto";
import type { Gateway } from "../../edge/gateway";
import { notFound } from "../../http/errors";
import type { RouteDefinition } from "../../edge/route";
import { idParams } from "../../http/schemas";

/** What all routes for administrators have in common. */
export const forAdmins = { tag: "Admin", auth: "admin", role: "self", limit: "user" } as const satisfies Partial<RouteDefinition<"admin">>;
/** And those that are about one user. */
export const ofUser = { ...forAdmins, params: idParams("user"), errors: ["NOT_FOUND"] } as const;

/** A user by id. @throws NOT_FOUND, for an organization's id, too */
export const requirePerson = async ({ services }: Pick<Gateway, "services">, userId: string): Promise<identity.User> => {
  const { user } = await services.identity.getUser({ userId });
  if (!user || user.organization) throw notFound("user");
  return user;
};

/** The user of an id, a person or an organization; undefined where there is none, or none any more. */
export const findUser = async ({ services }: Pick<Gateway, "services">, userId: string): Promise<identity.User | undefined> =>
  (await unlessNotFound(services.identity.getUser({ userId })))?.user;
