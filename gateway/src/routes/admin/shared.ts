import { unlessNotFound } from "@nodeloom/kernel";
import type { identity } from "@nodeloom/proto";
import type { Gateway } from "../../edge/gateway";
import { notFound } from "../../http/errors";
import type { RouteDefinition } from "../../edge/route";
import { idParams } from "../../http/schemas";

/** Settings of all routes for administrators. */
export const forAdmins = { tag: "Admin", auth: "admin", role: "self", limit: "user" } as const satisfies Partial<RouteDefinition<"admin">>;
/** Settings shared by routes about one user. */
export const ofUser = { ...forAdmins, params: idParams("user"), errors: ["NOT_FOUND"] } as const;

/** A user by id. @throws NOT_FOUND, also for an organization's id */
export const requirePerson = async ({ services }: Pick<Gateway, "services">, userId: string): Promise<identity.User> => {
  const { user } = await services.identity.getUser({ userId });
  if (!user || user.organization) throw notFound("user");
  return user;
};

/** A person or organization by id; undefined if it doesn't exist. */
export const findUser = async ({ services }: Pick<Gateway, "services">, userId: string): Promise<identity.User | undefined> =>
  (await unlessNotFound(services.identity.getUser({ userId })))?.user;
