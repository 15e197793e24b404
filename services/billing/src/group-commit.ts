import { setTimeout as delay } from "node:timers/promises";
import { unavailable } from "@nodeloom/kernel";
import type { Logger } from "@nodeloom/platform";
import { emptyAccount, type Account, type Outcome } from "./account";
import { apply, type Command, type ReplyTo } from "./command";
import type { LedgerRow } from "./movement";
import type { Outbox } from "./outbox";
import type { BillingStore } from "./store";

/** Commands that may wait for one account; more are told to come back. */
const MAX_WAITING = 2_000;
/** Commands that share one read and one write. */
const MAX_BATCH = 256;
/** Accounts kept in memory between commands. */
const MAX_CACHED_ACCOUNTS = 500;
const MAX_ATTEMPTS = 60;
const MAX_BACKOFF_MS = 40;
const DEFAULT_DEADLINE_MS = 5_000;

interface Waiting {
  command: Command;
  deadlineMs: number;
  resolve(reply: unknown): void;
  reject(error: unknown): void;
}

/** The commands of one account, one batch at a time. */
interface Lane {
  userId: string;
  waiting: Waiting[];
  working: boolean;
  /** The account as last read or written here; another process may have changed it since. */
  account?: Account;
  /** Rows of `account.outbox` that have reached the ledger since. */
  drained: Set<string>;
}

type Ledger = Map<string, LedgerRow | null>;
type Verdict = Outcome<unknown> | { kind: "failed"; error: unknown };
interface Decision {
  account: Account;
  outcomes: Verdict[];
}

export interface LanesDependencies {
  store: Pick<BillingStore, "load" | "commit" | "findRows">;
  outbox: Pick<Outbox, "add" | "drain" | "isFull">;
  logger: Logger;
}

/** Applies a batch in order to one account. */
const decide = (account: Account, batch: readonly Waiting[], ledger: Ledger): Decision => {
  let current = account;
  const outcomes = batch.map(({ command }): Verdict => {
    try {
      const transition = apply(current, { ...command, ledger });
      current = transition.account;
      return transition.outcome;
    } catch (error) {
      // A command that cannot be decided changes nothing, and must not take its neighbours down with it.
      return { kind: "failed", error };
    }
  });
  return { account: current, outcomes };
};

const answer = (batch: readonly Waiting[], outcomes: readonly Verdict[]): void => {
  batch.forEach((waiting, index) => {
    const outcome = outcomes[index];
    if (outcome?.kind === "done") waiting.resolve(outcome.reply);
    else if (outcome?.kind === "recall") waiting.reject(new Error("a command was left undecided"));
    else waiting.reject(outcome?.error);
  });
};

const backOff = (attempt: number): Promise<void> => delay(Math.random() * Math.min(2 ** attempt, MAX_BACKOFF_MS));

export type Lanes = ReturnType<typeof createLanes>;

/**
 * Group commit: the commands that arrive for an account while its last write is under way share the next one. The write
 * is conditional on the revision the commands were decided on, which keeps any number of processes correct; lanes only
 * make it fast. Nothing is answered before it is durable, and everything may be asked again.
 */
export const createLanes = ({ store, outbox, logger }: LanesDependencies) => {
  const lanes = new Map<string, Lane>();
  const idle = new Set<() => void>();
  let closed = false;

  const read = async (lane: Lane): Promise<Account> => {
    let account = await store.load(lane.userId);
    if (account && outbox.isFull(account.outbox)) {
      await outbox.drain(account.outbox);
      account = await store.load(lane.userId);
    }
    return account ?? emptyAccount(lane.userId);
  };

  const cached = (lane: Lane): Account | undefined => {
    if (!lane.account || outbox.isFull(lane.account.outbox)) return undefined;
    if (lane.drained.size > 0) {
      lane.account = { ...lane.account, outbox: lane.account.outbox.filter((row) => !lane.drained.has(row.id)) };
      lane.drained.clear();
    }
    return lane.account;
  };

  /** Decides with what the ledger knows of ids that the account has forgotten. Such rows never change once they are there. */
  const decideWithLedger = async (account: Account, batch: readonly Waiting[]): Promise<Decision> => {
    const ledger: Ledger = new Map();
    for (;;) {
      const decision = decide(account, batch, ledger);
      const asked = decision.outcomes.flatMap((outcome) => (outcome.kind === "recall" ? outcome.ids : [])).filter((id) => !ledger.has(id));
      if (asked.length === 0) return decision;
      for (const id of asked) ledger.set(id, null);
      for (const row of await store.findRows(asked)) ledger.set(row.id, row);
    }
  };

  const committed = (lane: Lane, before: Account, after: Account): void => {
    lane.account = { ...after, revision: before.revision + 1 };
    const rows = after.outbox.slice(before.outbox.length);
    outbox.add(rows, () => rows.forEach((row) => lane.drained.add(row.id)));
  };

  /** One attempt; false when it must be repeated on a newer account. */
  const attempt = async (lane: Lane, batch: readonly Waiting[]): Promise<boolean> => {
    const remembered = cached(lane);
    const before = remembered ?? (await read(lane));
    const { account: after, outcomes } = await decideWithLedger(before, batch);
    if (after !== before) {
      if (!(await store.commit(before, after))) return false;
      committed(lane, before, after);
    } else if (remembered) {
      // No write has proved that the remembered account is still the current one.
      return false;
    } else if (before.revision > 0) {
      lane.account = before;
    }
    answer(batch, outcomes);
    return true;
  };

  const serve = async (lane: Lane, batch: readonly Waiting[]): Promise<void> => {
    const latest = Math.max(...batch.map((waiting) => waiting.deadlineMs));
    for (let count = 0; count < MAX_ATTEMPTS && (count === 0 || Date.now() < latest); count++) {
      try {
        if (await attempt(lane, batch)) return;
      } catch (error) {
        logger.warn({ err: error, userId: lane.userId, attempt: count }, "an account could not be changed, trying again");
      }
      const wasCached = lane.account !== undefined;
      lane.account = undefined;
      if (!wasCached) await backOff(count);
    }
    for (const waiting of batch) waiting.reject(unavailable("the account is too busy"));
  };

  const takeBatch = (lane: Lane): Waiting[] => {
    const batch = lane.waiting.splice(0, MAX_BATCH);
    const now = Date.now();
    const late = batch.filter((waiting) => waiting.deadlineMs <= now);
    for (const waiting of late) waiting.reject(unavailable("the account is too busy"));
    return late.length > 0 ? batch.filter((waiting) => waiting.deadlineMs > now) : batch;
  };

  const evict = (): void => {
    for (const [userId, lane] of lanes) {
      if (lanes.size <= MAX_CACHED_ACCOUNTS) return;
      if (!lane.working) lanes.delete(userId);
    }
  };

  const work = async (lane: Lane): Promise<void> => {
    lane.working = true;
    while (lane.waiting.length > 0) {
      const batch = takeBatch(lane);
      if (batch.length > 0) await serve(lane, batch);
    }
    lane.working = false;
    // The map is in order of last use.
    lanes.delete(lane.userId);
    if (lane.account) lanes.set(lane.userId, lane);
    evict();
    for (const check of idle) check();
  };

  const laneOf = (userId: string): Lane => {
    const lane = lanes.get(userId) ?? { userId, waiting: [], working: false, drained: new Set() };
    lanes.set(userId, lane);
    return lane;
  };

  const isIdle = (): boolean => [...lanes.values()].every((lane) => !lane.working);

  return {
    /**
     * Applies a command, durably.
     * @throws DomainError: the command's refusal, or SERVICE_UNAVAILABLE (then it may have been applied, and may be repeated).
     */
    submit: <C extends Command>(command: C, deadlineMs = Date.now() + DEFAULT_DEADLINE_MS): Promise<ReplyTo<C>> => {
      if (closed) return Promise.reject(unavailable("billing is stopping"));
      const lane = laneOf(command.userId);
      if (lane.waiting.length >= MAX_WAITING) return Promise.reject(unavailable("the account is too busy"));
      return new Promise<ReplyTo<C>>((resolve, reject) => {
        lane.waiting.push({ command, deadlineMs, resolve: (reply) => resolve(reply as ReplyTo<C>), reject });
        if (!lane.working) void work(lane);
      });
    },

    /** Takes no more commands and waits for those under way. */
    close: (): Promise<void> =>
      new Promise((resolve) => {
        closed = true;
        const check = (): void => {
          if (isIdle()) resolve();
        };
        idle.add(check);
        check();
      }),
  };
};
