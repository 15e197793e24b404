import type { Role } from "@nodeloom/kernel";
import type { ErasureRecord, StopRecord } from "../records";

/** Several people who share an account; `_id` is the id of that account. */
export interface OrganizationRecord {
  _id: string;
  name: string;
  /** The maker. */
  createdBy: string;
  /** One of the maker's slots; unique, which bounds their number. */
  place: string;
  /** The owner whose tier, approval and suspension apply to the organization. */
  tierOf: string;
  /** Longest-standing first; always includes an owner. */
  members: MemberRecord[];
  /** Person ids of the members, for lookups. */
  memberIds: string[];
  invitations: InvitationRecord[];
  /** Set once an erasure is scheduled. */
  erasure?: ErasureRecord | null;
  /** The stop of its runs for a scheduled erasure. */
  stop?: StopRecord | null;
  /** Events that its webhook endpoints want; absent for none. */
  endpointEvents?: string[];
  /** Revision of the endpoints that they are of. */
  endpointRevision?: number;
  /** Increases with every change; a change that relies on an earlier revision fails. */
  revision: number;
  createdAt: Date;
}

/** A program's identity; `_id` stands where a person's id does. */
export interface ServiceAccountRecord {
  _id: string;
  /** An organization, or a person. */
  ownerId: string;
  /** One of its owner's places, which bound their number. */
  slot: number;
  name: string;
  /** The most that its keys can have. */
  capabilities: string[];
  createdBy: string;
  createdAt: Date;
}

export interface MemberRecord {
  personId: string;
  role: Role;
  since: Date;
  /** The inviting person. Absent for makers, and in old rows. */
  admittedBy?: string;
}

export interface InvitationRecord {
  id: string;
  /** Keyed hash of the token. */
  hash: string;
  role: Role;
  /** Empty for a link without a recipient. */
  email: string;
  createdBy: string;
  createdAt: Date;
  expiresAt: Date;
}
