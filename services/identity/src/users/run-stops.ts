import { randomUUID } from "node:crypto";
import type { OrganizationStore } from "../organizations/organization-store";
import type { StopRecord } from "../records";
import type { RunStopStore } from "./run-stop-store";
import type { UserStore } from "./user-store";

/**
 * How long a claim lasts, and so how often the runs of a stop are looked at: requests that were admitted just before it
 * begin theirs a little later.
 */
export const STOP_CLAIM_MS = 5_000;
/** After so long, no request from before a stop can begin a run any more: longer than any call that begins one may take. */
export const STOP_SETTLED_MS = 90_000;
/** A stop whose user does not name it by now belongs to an update that failed. */
const STOP_INTENT_MS = 60_000;
/** Stops of failed updates that one claim may pass over. */
const MAX_PASSED_OVER = 100;

/** The runs of a user, or of an organization that is to be erased, that are to be cancelled. */
export interface RunStop {
  id: string;
  userId: string;
  /** When the user was suspended, lost approval, or was to be erased. */
  at: Date;
  /** The user may run again: only runs that began before `at` are meant. */
  lifted: boolean;
  /** No run from before `at` can begin any more. */
  settled: boolean;
  /** Proves the claim. */
  claim: string;
  /** Organizations whose tier is the user's: their runs are to be cancelled, too. */
  organizationIds: string[];
}

/**
 * What suspensions and losses of approval still owe. A stop is stored before the user is changed, and holds once the user
 * names it: a crash between the two leaves a stop that has no effect.
 */
export interface RunStops {
  /** Stores a stop that is about to be. */
  begin(userId: string): Promise<StopRecord>;
  /** Forgets one whose update was not made. */
  drop(stop: StopRecord): Promise<void>;
  /** A stop that nobody else carries out now; null when there is none. */
  claim(): Promise<RunStop | null>;
  /** Ends a stop; one that was claimed again since stays. */
  finish(stop: Pick<RunStop, "id" | "claim" | "userId">): Promise<void>;
}

export interface RunStopsOptions {
  store: RunStopStore;
  users: Pick<UserStore, "find">;
  organizations: Pick<OrganizationStore, "find" | "idsOfTier">;
  clock?: () => number;
}

export const createRunStops = ({ store, users, organizations, clock = Date.now }: RunStopsOptions): RunStops => {
  /** Whose runs a stop is about. Null where there is no such account any more. */
  const holderOf = async (id: string): Promise<{ stop: StopRecord | null; lifted: boolean } | null> => {
    const user = await users.find(id);
    if (user) return { stop: user.stop, lifted: user.approved && !user.suspended && !user.erasure };
    const organization = await organizations.find(id);
    return organization && { stop: organization.stop ?? null, lifted: !organization.erasure };
  };

  const claimOnce = async (now: number): Promise<RunStop | "none" | "passed"> => {
    const claim = randomUUID();
    const record = await store.claim(claim, new Date(now), new Date(now + STOP_CLAIM_MS));
    if (!record) return "none";
    const holder = await holderOf(record.userId);
    if (holder?.stop?.id !== record._id) {
      const mayHold = holder !== null && now - record.at.getTime() < STOP_INTENT_MS;
      if (!mayHold) await store.remove(record._id, claim);
      return "passed";
    }
    return {
      id: record._id,
      userId: record.userId,
      at: record.at,
      lifted: holder.lifted,
      settled: now - record.at.getTime() >= STOP_SETTLED_MS,
      claim,
      organizationIds: await organizations.idsOfTier(record.userId),
    };
  };

  return {
    begin: async (userId) => {
      const stop = { id: randomUUID(), at: new Date(clock()) };
      await store.insert({ _id: stop.id, userId, at: stop.at });
      return stop;
    },
    drop: ({ id }) => store.remove(id, null),
    claim: async () => {
      for (let passed = 0; passed < MAX_PASSED_OVER; passed += 1) {
        const claimed = await claimOnce(clock());
        if (claimed === "none") return null;
        if (claimed !== "passed") return claimed;
      }
      return null;
    },
    finish: ({ id, claim }) => store.remove(id, claim),
  };
};
