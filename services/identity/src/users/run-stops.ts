import { randomUUID } from "node:crypto";
import type { OrganizationStore } from "../organizations/organization-store";
import type { StopRecord } from "../records";
import type { RunStopStore } from "./run-stop-store";
import type { UserStore } from "./user-store";

/**
 * Duration of a claim, and therefore the interval at which a stop's runs are checked. The check repeats because requests admitted just
 * before the stop start their runs slightly later.
 */
export const STOP_CLAIM_MS = 5_000;
/** Time after which requests from before the stop can no longer start a run. */
export const STOP_SETTLED_MS = 90_000;
/** After this time, a stop to which its user doesn't refer is dropped, because the user's update has failed. */
const STOP_INTENT_MS = 60_000;
/** Maximum stops of failed updates that one claim skips. */
const MAX_PASSED_OVER = 100;

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
  /** Token of the claim. */
  claim: string;
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
  /** Claims a stop that no other worker has. Returns null if there is none. */
  claim(): Promise<RunStop | null>;
  /** Ends a stop, unless another worker has claimed it. */
  finish(stop: Pick<RunStop, "id" | "claim" | "userId">): Promise<void>;
}

export interface RunStopsOptions {
  store: RunStopStore;
  users: Pick<UserStore, "find">;
  organizations: Pick<OrganizationStore, "find" | "idsOfTier">;
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
        const claim = await claimOnce(clock());
        if (claim === "none") return null;
        if (claim !== "passed") return claim;
      }
      return null;
    },
    finish: ({ id, claim }) => store.remove(id, claim),
  };
};
