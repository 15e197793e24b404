import { Schema, type Connection, type Model } from "mongoose";
import { OPTIONS, date, text } from "../schema-fields";
import { erasureSchema, stopSchema } from "../users/schema";
import type { InvitationRecord, MemberRecord, OrganizationRecord } from "./records";

const memberSchema = new Schema<MemberRecord>({ personId: text, role: text, since: date, admittedBy: String }, OPTIONS);
const invitationSchema = new Schema<InvitationRecord>(
  { id: text, hash: text, role: text, email: { type: String, default: "" }, createdBy: text, createdAt: date, expiresAt: date },
  OPTIONS,
);

const organizationSchema = new Schema<OrganizationRecord>(
  {
    _id: text,
    name: text,
    createdBy: text,
    place: text,
    tierOf: text,
    members: { type: [memberSchema], required: true },
    memberIds: { type: [String], required: true },
    invitations: { type: [invitationSchema], required: true },
    erasure: { type: erasureSchema, default: null },
    stop: { type: stopSchema, default: null },
    endpointEvents: { type: [String], default: undefined },
    endpointRevision: Number,
    revision: { type: Number, required: true },
    createdAt: date,
  },
  OPTIONS,
)
  // Bounds the number of organizations per creator.
  .index({ place: 1 }, { unique: true })
  // Finds a person's organizations.
  .index({ memberIds: 1 })
  // Finds organizations whose runs stop when a person is suspended.
  .index({ tierOf: 1 })
  // Order of the admin list.
  .index({ createdAt: -1, _id: -1 })
  // Finds due erasures.
  .index({ "erasure.erasesAt": 1 }, { sparse: true });

export const createOrganizationModel = (connection: Connection): Model<OrganizationRecord> =>
  connection.model<OrganizationRecord>("Organization", organizationSchema, "organizations");
