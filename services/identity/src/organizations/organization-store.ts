import { beyond, escapeRegExp, insertOnce, type ListPosition } from "@nodeloom/platform";
import type { Model } from "mongoose";
import type { OrganizationRecord } from "./records";

export type OrganizationChange = Partial<
  Pick<OrganizationRecord, "name" | "place" | "tierOf" | "members" | "invitations" | "erasure" | "stop">
>;

export interface OrganizationPage {
  /** A part of the name; empty for all organizations. */
  query: string;
  /** Limits the list to organizations with this person's tier. */
  tierOf: string | undefined;
  /** The end of the previous page. */
  after: ListPosition | undefined;
  limit: number;
}

/** Methods that handle people's requests require the member's id. */
export interface OrganizationStore {
  /** @returns false if another request took the creator's slot */
  insert(organization: OrganizationRecord): Promise<boolean>;
  /** Returns the slots that are taken. */
  takenPlaces(places: readonly string[]): Promise<string[]>;
  /** @returns null for a non-member */
  findOf(personId: string, id: string): Promise<OrganizationRecord | null>;
  /** A person's organizations, oldest first. */
  listOf(personId: string): Promise<OrganizationRecord[]>;
  countOf(personId: string): Promise<number>;
  /** Changes an organization. @returns null if it has changed since it was read */
  change(organization: OrganizationRecord, change: OrganizationChange): Promise<OrganizationRecord | null>;

  find(id: string): Promise<OrganizationRecord | null>;
  /** Ids of organizations with a person's tier. */
  idsOfTier(personId: string): Promise<string[]>;
  /** Organizations, newest first. */
  page(page: OrganizationPage): Promise<OrganizationRecord[]>;
}

export const createOrganizationStore = (organizations: Model<OrganizationRecord>): OrganizationStore => ({
  insert: (organization) => insertOnce(organizations.create([organization])),
  takenPlaces: async (places) => {
    const rows = await organizations.find({ place: { $in: [...places] } }, { place: 1 }).lean<Pick<OrganizationRecord, "place">[]>();
    return rows.map(({ place }) => place);
  },
  findOf: (personId, id) => organizations.findOne({ _id: id, memberIds: personId }).lean<OrganizationRecord>().exec(),
  listOf: (personId) => organizations.find({ memberIds: personId }).sort({ createdAt: 1, _id: 1 }).lean<OrganizationRecord[]>().exec(),
  countOf: (personId) => organizations.countDocuments({ memberIds: personId }).exec(),
  change: ({ _id, revision }, { members, ...change }) => {
    const ofMembers = members ? { members, memberIds: members.map(({ personId }) => personId) } : {};
    return organizations
      .findOneAndUpdate({ _id, revision }, { $set: { ...change, ...ofMembers }, $inc: { revision: 1 } }, { returnDocument: "after" })
      .lean<OrganizationRecord>()
      .exec();
  },

  find: (id) => organizations.findById(id).lean<OrganizationRecord>().exec(),
  idsOfTier: async (personId) =>
    (await organizations.find({ tierOf: personId }, { _id: 1 }).lean<Pick<OrganizationRecord, "_id">[]>()).map(({ _id }) => _id),
  page: ({ query, tierOf, after, limit }) =>
    organizations
      .find({
        ...(query ? { name: { $regex: escapeRegExp(query), $options: "i" } } : {}),
        ...(tierOf === undefined ? {} : { tierOf }),
        ...beyond("createdAt", after, "$lt"),
      })
      .sort({ createdAt: -1, _id: -1 })
      .limit(limit)
      .lean<OrganizationRecord[]>()
      .exec(),
});
