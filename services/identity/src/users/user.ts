import { randomUUID } from "node:crypto";
import { DomainError, type Plan } from "@nodeloom/kernel";
import type { Business, UserRecord } from "../records";

/** A user without password data, including the plan of its tier. */
export interface User {
  id: string;
  email: string;
  role: "user" | "admin";
  tier: string;
  approved: boolean;
  plan: Plan;
  business: Business | null;
  suspended: boolean;
  /** Sessions with a lower epoch have ended. */
  sessionEpoch: number;
  /** Keys with a lower epoch have ended. */
  keyEpoch: number;
  /** Incremented by every change that an administrator makes. */
  revision: number;
  /** True if password sign-in requires a code. */
  secondFactor: boolean;
  /** Time for which the erasure is scheduled; null if there is none. */
  erasesAt: Date | null;
  createdAt: Date;
  /** Set only for an organization's account. */
  organization?: { name: string; tierOf: string };
  /** True for a service account. */
  service?: boolean;
  /** Events that the account's webhook endpoints receive. */
  endpointEvents?: readonly string[];
}

type NewUser = Pick<UserRecord, "email" | "passwordHash" | "role" | "tier" | "approved" | "createdAt">;

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

/** True if the address is verified. The configured administrator's address counts as verified. */
export const isVerified = ({ emailVerifiedAt, bootstrapHash }: Pick<UserRecord, "emailVerifiedAt" | "bootstrapHash">): boolean =>
  Boolean(emailVerifiedAt) || bootstrapHash !== null;

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
  ...(record.endpointEvents ? { endpointEvents: record.endpointEvents } : {}),
});

export const noSuchUser = (): DomainError => new DomainError("not_found", "NOT_FOUND", "no such user");
