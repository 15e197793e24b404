import { randomUUID } from "node:crypto";
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
  /** One more with every change by an administrator. */
  revision: number;
  /** Signing in by password takes a code, too. */
  secondFactor: boolean;
  /** When the account is erased; null where nobody asked for that. */
  erasesAt: Date | null;
  createdAt: Date;
  /** Set where this is the account of an organization. */
  organization?: { name: string; tierOf: string };
}

type NewUser = Pick<UserRecord, "email" | "passwordHash" | "role" | "tier" | "approved" | "createdAt">;

/** The record of a user who is about to be stored. */
export const newUser = (user: NewUser & Partial<UserRecord>): UserRecord => ({
  _id: randomUUID(),
  business: null,
  suspended: false,
  sessionEpoch: 0,
  keyEpoch: 0,
  revision: 0,
  stop: null,
  passwordReset: null,
  secondFactor: null,
  emailVerifiedAt: null,
  bootstrapHash: null,
  erasure: null,
  ...user,
});

export const isAdmin = (user: Pick<User, "role">): boolean => user.role === "admin";

export const hasSecondFactor = ({ secondFactor }: Pick<UserRecord, "secondFactor">): boolean => Boolean(secondFactor?.confirmedAt);

/** Whether the address is the user's. That of the configured administrator is the operator's own word. */
export const isVerified = ({ emailVerifiedAt, bootstrapHash }: Pick<UserRecord, "emailVerifiedAt" | "bootstrapHash">): boolean =>
  Boolean(emailVerifiedAt) || bootstrapHash !== null;

/** A stored user with the plan of its tier. */
export const toUser = (record: UserRecord, plan: Plan): User => ({
  id: record._id,
  email: record.email,
  role: record.role,
  tier: record.tier,
  approved: record.approved,
  plan,
  business: record.business,
  suspended: record.suspended,
  sessionEpoch: record.sessionEpoch,
  keyEpoch: record.keyEpoch,
  revision: record.revision,
  secondFactor: hasSecondFactor(record),
  erasesAt: record.erasure?.erasesAt ?? null,
  createdAt: record.createdAt,
});

export const noSuchUser = (): DomainError => new DomainError("not_found", "NOT_FOUND", "no such user");
