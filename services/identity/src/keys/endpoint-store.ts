import { DURABLE } from "@nodeloom/platform";
import { Schema, type Connection, type Model } from "mongoose";
import type { OrganizationRecord } from "../organizations/records";
import type { UserRecord } from "../records";
import type { EndpointRecord, EndpointsRecord, WebhookSecretRecord } from "./records";
import { newestFirst } from "./key-store";

const endpointsSchema = new Schema<EndpointsRecord>(
  { _id: { type: String, required: true }, revision: { type: Number, required: true }, endpoints: { type: [Object], required: true } },
  { versionKey: false, minimize: false, _id: false, id: false },
);
export const createEndpointModel = (connection: Connection): Model<EndpointsRecord> =>
  connection.model<EndpointsRecord>("WebhookEndpoints", endpointsSchema, "webhook-endpoints");

export interface EndpointId {
  ownerId: string;
  id: string;
}

/** An endpoint, with the settings of a delivery to it. */
export interface EndpointSettings extends EndpointId {
  url: string;
  revision: string;
}

export type EndpointChange = Partial<Omit<EndpointRecord, "id" | "secrets" | "createdAt">>;

/** Stores all endpoints of an owner in one document, so that each change is one conditional update and their number is bounded. */
export interface EndpointStore {
  find(ownerId: string): Promise<EndpointsRecord | null>;
  /** @returns null if the owner already has `most` endpoints */
  add(ownerId: string, endpoint: EndpointRecord, most: number): Promise<EndpointsRecord | null>;
  /** @returns null if the endpoint doesn't exist or doesn't match `only` */
  change(of: EndpointId, change: EndpointChange, only?: Partial<EndpointRecord>): Promise<EndpointsRecord | null>;
  addSecret(of: EndpointId, secret: WebhookSecretRecord): Promise<EndpointsRecord | null>;
  remove(of: EndpointId): Promise<EndpointsRecord | null>;
  /** True if this change of the endpoints or a later one is recorded on the account, or if the account is deleted. */
  isNoted(record: EndpointsRecord): Promise<boolean>;
  /** Records on the account the events that its enabled endpoints receive, unless a later change is already recorded. */
  noteEvents(record: EndpointsRecord, events: readonly string[]): Promise<void>;
}

export interface EndpointModels {
  endpoints: Model<EndpointsRecord>;
  users: Model<UserRecord>;
  organizations: Model<OrganizationRecord>;
}

const OPTIONS = { returnDocument: "after", writeConcern: DURABLE } as const;
/** Finds an account on which no change this late is recorded. */
const older = ({ _id, revision }: Pick<EndpointsRecord, "_id" | "revision">) => ({
  _id,
  $or: [{ endpointRevision: { $exists: false } }, { endpointRevision: { $lt: revision } }],
});
const ONE_MORE = { $inc: { revision: 1 } };

export const createEndpointStore = ({ endpoints, users, organizations }: EndpointModels): EndpointStore => {
  const update = (filter: object, change: object, options: object = {}): Promise<EndpointsRecord | null> =>
    endpoints
      .findOneAndUpdate(filter, { ...ONE_MORE, ...change }, { ...OPTIONS, ...options })
      .lean<EndpointsRecord>()
      .exec();
  const updateOne = (of: EndpointId, change: object, only?: Partial<EndpointRecord>): Promise<EndpointsRecord | null> =>
    update(one(of, only), change, { arrayFilters: [{ "one.id": of.id }] });
  const one = ({ ownerId, id }: EndpointId, only: Partial<EndpointRecord> = {}) => ({
    _id: ownerId,
    endpoints: { $elemMatch: { id, ...only } },
  });

  return {
    find: (ownerId) => endpoints.findById(ownerId).lean<EndpointsRecord>().exec(),
    add: async (ownerId, endpoint, most) => {
      await endpoints.updateOne({ _id: ownerId }, { $setOnInsert: { revision: 0, endpoints: [] } }, { upsert: true }).exec();
      return update({ _id: ownerId, [`endpoints.${most - 1}`]: { $exists: false } }, { $push: { endpoints: endpoint } });
    },
    change: (of, change, only) => {
      const set = Object.fromEntries(Object.entries(change).map(([name, value]) => [`endpoints.$[one].${name}`, value]));
      return updateOne(of, { $set: set }, only);
    },
    addSecret: (of, secret) => updateOne(of, { $push: { "endpoints.$[one].secrets": newestFirst(secret) } }),
    remove: (of) => update(one(of), { $pull: { endpoints: { id: of.id } } }),
    isNoted: async (record) => !(await users.exists(older(record))) && !(await organizations.exists(older(record))),
    noteEvents: async (record, events) => {
      const noted = { $set: { endpointEvents: [...events], endpointRevision: record.revision } };
      await users.updateOne(older(record), noted).exec();
      await organizations.updateOne(older(record), noted).exec();
    },
  };
};
