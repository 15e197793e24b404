import type { Role } from "@nodeloom/kernel";
import type { ErasureRecord, StopRecord } from "../records";

/** Several people who share an account; `_id` is the id of that account. */
export interface OrganizationRecord {
  _id: string;
  name: string;
  /** The person who made it. */
  createdBy: string;
  /** Its place among the organizations that its maker made; unique, which bounds their number. */
  place: string;
  /** The owner whose tier, approval and suspension are the organization's. */
  tierOf: string;
  /** Longest-standing first; one of them is an owner at any time. */
  members: MemberRecord[];
  /** The members' person ids, by which organizations are found. */
  memberIds: string[];
  invitations: InvitationRecord[];
  /** Set once the organization is to be erased. */
  erasure?: ErasureRecord | null;
  /** Ended its runs when it was to be erased. */
  stop?: StopRecord | null;
  /** One more with every change: a change that relies on an earlier one is not made. */
  revision: number;
  createdAt: Date;
}

export interface MemberRecord {
  personId: string;
  role: Role;
  since: Date;
  /** The person whose invitation it was. Absent on makers, and on members from before it was kept. */
  admittedBy?: string;
}

export interface InvitationRecord {
  id: string;
  /** Keyed hash of the token. */
  hash: string;
  role: Role;
  /** Empty where a link alone was made. */
  email: string;
  createdBy: string;
  createdAt: Date;
  expiresAt: Date;
}
