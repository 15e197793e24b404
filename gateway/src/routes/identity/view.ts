import { toCredits } from "@nodeloom/kernel";
import type { billing, identity } from "@nodeloom/proto";
import { z } from "zod";
import { toCallerUser, type Caller, type CallerUser } from "../../auth/caller";
import { credits, iso, timestamp } from "../../http/schemas";
import { ownOrganization } from "../organizations/view";

export const user = z
  .object({ id: z.string(), email: z.string(), role: z.enum(["user", "admin"]), tier: z.string(), approved: z.boolean() })
  .meta({ id: "User", example: { id: "usr_1", email: "ada@example.com", role: "user", tier: "pro", approved: true } });

export const userReply = z.object({ user, organization: ownOrganization.optional() }).meta({ id: "UserReply" });

export const userView = ({
  id,
  email,
  role,
  tier,
  approved,
}: Pick<CallerUser, "id" | "email" | "role" | "tier" | "approved">): Record<string, unknown> => ({
  id,
  email,
  role,
  tier,
  approved,
});

/** The caller, with the tier of the account in use. */
export const personView = ({ user: { tier, approved }, person }: Pick<Caller, "user" | "person">): Record<string, unknown> =>
  userView({ ...person, tier, approved });

export const business = z
  .object({ name: z.string(), verified: z.boolean().meta({ description: "True if an administrator has checked it" }) })
  .meta({ id: "Business", example: { name: "Loom Works Ltd", verified: true } });

export const adminUser = user
  .extend({
    suspended: z.boolean(),
    secondFactor: z.boolean().meta({ description: "Signing in with a password also requires a code" }),
    business: business.nullable(),
    erasesAt: timestamp.nullable().meta({ description: "Time of the account's deletion, if it is scheduled" }),
    createdAt: timestamp.nullable(),
  })
  .meta({ id: "AdminUser" });
export const adminUserView = (stored: identity.User): Record<string, unknown> => ({
  ...userView(stored),
  suspended: stored.suspended,
  secondFactor: stored.secondFactor,
  business: toCallerUser(stored).business,
  erasesAt: iso(stored.erasesAt),
  createdAt: iso(stored.createdAt),
});

const grant = z.object({ model: z.string(), remaining: z.number(), total: z.number() });
export const balances = z
  .object({ plan: credits, topUp: credits, held: credits, renewsAt: timestamp.nullable(), grants: z.array(grant) })
  .meta({ id: "Balances" });

/** Balances in credits; zero without an account. */
export const balancesView = (account: billing.Account | undefined): z.infer<typeof balances> => ({
  plan: toCredits(account?.planMillicredits ?? 0),
  topUp: toCredits(account?.topUpMillicredits ?? 0),
  held: toCredits(account?.heldMillicredits ?? 0),
  renewsAt: iso(account?.renewsAt),
  grants: (account?.grants ?? []).map(({ model, remaining, total }) => ({ model, remaining, total })),
});
