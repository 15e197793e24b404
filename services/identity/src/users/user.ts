import type { Plan } from "@nodeloom/kernel";
import type { Business, UserRecord } from "../records";

/** A user as others see it: no password, the tier resolved to its plan. */
export interface User {
  id: string;
  email: string;
  role: "user" | "admin";
  tier: string;
  approved: boolean;
  plan: Plan;
  business: Business | null;
  createdAt: Date;
}

export const isAdmin = (user: Pick<User, "role">): boolean => user.role === "admin";

/** A stored user with the plan of its tier. */
export const toUser = ({ _id, email, role, tier, approved, business, createdAt }: UserRecord, plan: Plan): User => ({
  id: _id,
  email,
  role,
  tier,
  approved,
  plan,
  business: business ?? null,
  createdAt,
});
