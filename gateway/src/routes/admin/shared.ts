import type { RouteDefinition } from "../../http/route";
import { idParams } from "../../schemas";

/** What all routes for administrators have in common. */
export const forAdmins = { tag: "Admin", auth: "admin", limit: "user" } as const satisfies Partial<RouteDefinition<"admin">>;
/** And those that are about one user. */
export const ofUser = { ...forAdmins, params: idParams("user"), errors: ["NOT_FOUND"] } as const;
