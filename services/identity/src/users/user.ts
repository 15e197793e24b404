import { DomainError, type Plan } from "@nodeloom/kernel";
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
  suspended: boolean;
  /** A session of an earlier epoch has ended. */
  sessionEpoch: number;
  /** A key of an earlier epoch has ended. */
  keyEpoch: number;
  createdAt: Date;
}

export const isAdmin = (user: Pick<User, "role">): boolean => user.role === "admin";

/** A stored user with the plan of its tier. */
export const toUser = (record: UserRecord, plan: Plan): User => ({
  id: record._id,
  email: record.email,
  role: record.role,
  tier: record.tier,
  approved: record.approved,
  plan,
  business: record.business ?? null,
  suspended: record.suspended ?? false,
  sessionEpoch: record.sessionEpoch ?? 0,
  keyEpoch: record.keyEpoch ?? 0,
  createdAt: record.createdAt,
});

export const noSuchUser = (): DomainError => new DomainError("not_found", "NOT_FOUND", "no such user");
