/**
 * Finds the keys that fix a metadata value, and the schedules and hooks whose runs have it. An erasure lists them without changing them.
 */
import type { Identity, Triggers } from "../clients";
import type { Carriers, MetadataEntry } from "../record/erasure/erasures";

export type Carrying = (userId: string, entry: MetadataEntry) => Promise<Carriers>;

export interface CarryingOptions {
  identity: Pick<Identity, "listKeys">;
  triggers: Pick<Triggers, "listSchedules" | "listHooks">;
}

/** Metadata names under which runs store the id of their schedule or hook. */
const OWN_ID = { schedules: "scheduleId", hooks: "hookId" } as const;

export const createCarrying =
  ({ identity, triggers }: CarryingOptions): Carrying =>
  async (userId, { name, value }) => {
    const [{ keys }, { schedules }, { hooks }] = await Promise.all([
      identity.listKeys({ userId }),
      triggers.listSchedules({ userId, workflowSlug: "" }),
      triggers.listHooks({ userId, workflowSlug: "" }),
    ]);
    const fixing = keys.filter(({ metadata }) => Object.hasOwn(metadata, name) && metadata[name] === value).map(({ id }) => id);
    const ofKind = (kind: keyof typeof OWN_ID, all: readonly { id: string; keyId: string }[]): string[] =>
      all.filter(({ id, keyId }) => fixing.includes(keyId) || (name === OWN_ID[kind] && id === value)).map(({ id }) => id);
    return { keys: fixing, schedules: ofKind("schedules", schedules), hooks: ofKind("hooks", hooks) };
  };
