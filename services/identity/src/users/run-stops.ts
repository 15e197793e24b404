import { randomUUID } from "node:crypto";
import type { ErasureRecord, RunStopRecord, StopRecord } from "../records";
import type { RunStopStore } from "./run-stop-store";
import type { UserStore } from "./user-store";

/** Time after which requests from before the stop can no longer start a run. */
export const STOP_SETTLED_MS = 90_000;
/** After this time, a stop to which its user doesn't refer is dropped, because the user's update has failed. */
const STOP_INTENT_MS = 60_000;
/** Maximum stops in one list. The rest is listed once these have ended. */
const MAX_LISTED = 100;

/** An instruction to cancel the runs of a user, or of an organization scheduled for erasure. */
export interface RunStop {
  id: string;
  userId: string;
  /** Time of the suspension, the loss of approval or the erasure request. */
  at: Date;
  /** True if the user can run again, so that only runs from before `at` are cancelled. */
  lifted: boolean;
  /** True if no run from before `at` can start any more. */
  settled: boolean;
  /** Organizations with the user's tier. Their runs are also cancelled. */
  organizationIds: string[];
}

/**
 * Pending stops of runs after suspensions and losses of approval. A stop is stored before the user changes and is valid once the user
 * refers to it. A crash between the two leaves a stop without effect.
 */
export interface RunStops {
  /** Stores a stop before its user is updated. */
  begin(userId: string): Promise<StopRecord>;
  /** Removes a stop whose update failed. */
  drop(stop: StopRecord): Promise<void>;
  /** Returns pending stops, oldest first. Drops stops of failed updates. */
  list(): Promise<RunStop[]>;
  /** Ends a stop. */
  finish(id: string): Promise<void>;
}

export interface RunStopsOptions {
  store: RunStopStore;
  users: Pick<UserStore, "find">;
  organizations: {
    find(id: string): Promise<{ stop?: StopRecord | null; erasure?: ErasureRecord | null } | null>;
    /** Returns the organizations whose tier is this person's. */
    idsOfTier(personId: string): Promise<string[]>;
  };
  clock?: () => number;
}

export const createRunStops = ({ store, users, organizations, clock = Date.now }: RunStopsOptions): RunStops => {
  /** Returns the state of a stop's account; null if the account no longer exists. */
  const holderOf = async (id: string): Promise<{ stop: StopRecord | null; lifted: boolean } | null> => {
    const user = await users.find(id);
    if (user) return { stop: user.stop, lifted: user.approved && !user.suspended && !user.erasure };
    const organization = await organizations.find(id);
    return organization && { stop: organization.stop ?? null, lifted: !organization.erasure };
  };

  /** @returns null if no account refers to the stop */
  const read = async ({ _id: id, userId, at }: RunStopRecord, now: number): Promise<RunStop | null> => {
    const holder = await holderOf(userId);
    if (holder?.stop?.id !== id) {
      const mayHold = holder !== null && now - at.getTime() < STOP_INTENT_MS;
      if (!mayHold) await store.remove(id);
      return null;
    }
    const isSettled = now - at.getTime() >= STOP_SETTLED_MS;
    return { id, userId, at, lifted: holder.lifted, settled: isSettled, organizationIds: await organizations.idsOfTier(userId) };
  };

  return {
    begin: async (userId) => {
      const stop = { id: randomUUID(), at: new Date(clock()) };
      await store.insert({ _id: stop.id, userId, at: stop.at });
      return stop;
    },
    drop: ({ id }) => store.remove(id),
    list: async () => {
      const records = await store.list(MAX_LISTED);
      const stops = await Promise.all(records.map((record) => read(record, clock())));
      return stops.filter((stop) => stop !== null);
    },
    finish: (id) => store.remove(id),
  };
};
