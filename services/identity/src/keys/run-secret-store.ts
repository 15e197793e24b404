import { DURABLE } from "@nodeloom/platform";
import type { Model } from "mongoose";
import type { RunSecretRecord, WebhookSecretRecord } from "./records";
import { newestFirst } from "./key-store";

/** Stores secrets of owners, the newest first. */
export interface RunSecretStore {
  find(ownerId: string): Promise<WebhookSecretRecord[] | null>;
  /** Stores an owner's first secret, unless the owner has one. @returns the stored secrets */
  begin(ownerId: string, secret: WebhookSecretRecord): Promise<WebhookSecretRecord[]>;
  add(ownerId: string, secret: WebhookSecretRecord): Promise<WebhookSecretRecord[]>;
}

export const createRunSecretStore = (secrets: Model<RunSecretRecord>): RunSecretStore => {
  const write = async (ownerId: string, change: object): Promise<WebhookSecretRecord[]> => {
    const options = { upsert: true, returnDocument: "after", writeConcern: DURABLE } as const;
    const stored = await secrets.findOneAndUpdate({ _id: ownerId }, change, options).lean<RunSecretRecord>().exec();
    return stored.secrets;
  };
  return {
    find: async (ownerId) => (await secrets.findById(ownerId).lean<RunSecretRecord>().exec())?.secrets ?? null,
    begin: (ownerId, secret) => write(ownerId, { $setOnInsert: { secrets: [secret] } }),
    add: (ownerId, secret) => write(ownerId, { $push: { secrets: newestFirst(secret) } }),
  };
};
