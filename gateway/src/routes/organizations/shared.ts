import { isRole, preconditionFailed, roleDenied, roleReaches, type Role } from "@nodeloom/kernel";
import type { organizations } from "@nodeloom/proto";
import type { CallContext, RouteDefinition } from "../../edge/route";
import { idParams } from "../../http/schemas";
import { audited, type AdminAction, type WriteResult } from "../../edge/audit";

/** Settings shared by routes about organizations. The path names the organization, and the routes concern the person's membership. */
export const shared = { tag: "Organizations", auth: "session", role: "self", limit: "user" } as const satisfies Partial<
  RouteDefinition<"session">
>;
export const ofOrganization = { ...shared, params: idParams("organization"), errors: ["NOT_FOUND", "CAPABILITY_DENIED"] } as const;

type Context = Pick<CallContext<"session", { id: string }>, "gateway" | "caller" | "params" | "response" | "logger">;

/** True if the path names the caller's own account, which counts as an organization of one. */
export const isPersonal = ({ caller, params }: Pick<Context, "caller" | "params">): boolean => params.id === caller.person.id;

export const which = ({ caller, params }: Pick<Context, "caller" | "params">): { personId: string; organizationId: string } => ({
  personId: caller.person.id,
  organizationId: params.id,
});

/** @throws PRECONDITION_FAILED for the caller's own account */
export const requireShared = (context: Pick<Context, "caller" | "params">): void => {
  if (isPersonal(context)) throw preconditionFailed("a personal account has no members: make an organization");
};

/**
 * The caller's membership; undefined for their own account.
 * @throws NOT_FOUND for non-members, CAPABILITY_DENIED for insufficient roles
 */
export const requireMember = async (
  context: Pick<Context, "gateway" | "caller" | "params">,
  needed: Role,
): Promise<organizations.Membership | undefined> => {
  if (isPersonal(context)) return undefined;
  const { membership } = await context.gateway.services.organizations.getMembership(which(context));
  const own = membership?.role ?? "";
  if (!isRole(own) || !roleReaches(own, needed)) throw roleDenied(needed);
  return membership;
};

/** A member's change that the organization's owners can read in the audit. Rejected attempts leave no row. */
export const auditedChange = async <T>(
  context: Context,
  needed: Role,
  action: Omit<AdminAction, "ownerId">,
  write: (membership: organizations.Membership | undefined) => Promise<WriteResult<T>>,
): Promise<T> => {
  const membership = await requireMember(context, needed);
  return audited(context, { ...action, ownerId: context.params.id }, () => write(membership));
};
