import type { Role } from "@nodeloom/kernel";
import type { ErasureRecord, StopRecord } from "../records";

/** Several people who share an account. `_id` is the account's id. */
export interface OrganizationRecord {
  _id: string;
  name: string;
  createdBy: string;
  /** One of the creator's slots. It is unique, which bounds the number of organizations. */
  place: string;
  /** The owner whose tier, approval and suspension apply to the organization. */
  tierOf: string;
  /** Members in the order in which they joined. At least one is an owner. */
  members: MemberRecord[];
  /** Person ids of the members, for lookups. */
  memberIds: string[];
  invitations: InvitationRecord[];
  /** Set when an erasure is scheduled. */
  erasure?: ErasureRecord | null;
  /** Stops the organization's runs for a scheduled erasure. */
  stop?: StopRecord | null;
  /** Events that its webhook endpoints receive; absent if there are none. */
  endpointEvents?: string[];
  /** Revision of the endpoints from which `endpointEvents` was recorded. */
  endpointRevision?: number;
  /** Incremented by every change. A change based on an earlier revision fails. */
  revision: number;
  createdAt: Date;
}

/** A program's identity. `_id` is used wherever a person's id is. */
export interface ServiceAccountRecord {
  _id: string;
  /** Id of an organization or a person. */
  ownerId: string;
  /** One of the owner's slots, which bound the number of service accounts. */
  slot: number;
  name: string;
  /** Maximum capabilities of its keys. */
  capabilities: string[];
  createdBy: string;
  createdAt: Date;
}

export interface MemberRecord {
  personId: string;
  role: Role;
  since: Date;
  /** The inviting person. Absent for creators and in old rows. */
  admittedBy?: string;
}

export interface InvitationRecord {
  id: string;
  /** Keyed hash of the token. */
  hash: string;
  role: Role;
  /** The recipient's address; empty for a link without a recipient. */
  email: string;
  createdBy: string;
  createdAt: Date;
  expiresAt: Date;
}
