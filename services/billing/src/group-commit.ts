import { CONFLICT_ATTEMPTS, DomainError, unavailable } from "@nodeloom/kernel";
import { createBatcher, retryOnConflict, type BatchItem, type Logger } from "@nodeloom/platform";
import { emptyAccount, type Account, type Outcome } from "./account/account";
import { apply, type Command, type ReplyTo } from "./account/command";
import type { LedgerRow } from "./account/movement";
import { documentBytes } from "./account/size";
import { arranged, isOneUpdate } from "./account-store";
import { BILLING_LIMITS } from "./limits";
import type { Outbox } from "./ledger/outbox";
import { countMovements } from "./meters";
import type { BillingStore } from "./store";

/** Maximum queued commands per account. Further commands are rejected and can be retried. */
const MAX_WAITING = 2_000;
/** Maximum commands that share one read and one write. */
const MAX_BATCH = 256;
const MAX_CACHED_ACCOUNTS = 500;
const MAX_BACKOFF_MS = 40;
const DEFAULT_DEADLINE_MS = 5_000;

type Batch = readonly BatchItem<Command, unknown>[];

interface CachedAccount {
  userId: string;
  /** Last state that this process read or wrote. Other processes may have changed it. */
  account?: Account;
  /** Rows of `account.outbox` that have reached the ledger since then. */
  drained: Set<string>;
}

type Ledger = Map<string, LedgerRow | null>;
type Verdict = Outcome<unknown> | { kind: "failed"; error: unknown };
interface Decision {
  /** The account after each command. */
  accounts: Account[];
  outcomes: Verdict[];
}

export interface GroupCommitDependencies {
  store: Pick<BillingStore, "load" | "commit" | "findRows">;
  outbox: Pick<Outbox, "add" | "drain" | "isFull">;
  logger: Logger;
}

const tooBusy = (): Error => unavailable("the account is too busy");
const isBehind = (): Error => unavailable("the account's movements can't be written to the ledger at the moment: retry");
const isFull = (): Error => unavailable("the account has no space for this change: retry when runs have ended");

/** Applies a batch of commands to one account in order. */
const decide = (account: Account, batch: Batch, ledger: Ledger): Decision => {
  let current = account;
  const accounts: Account[] = [];
  const outcomes = batch.map(({ value }): Verdict => {
    try {
      const transition = apply(current, { ...value, ledger });
      current = transition.account;
      return transition.outcome;
    } catch (error) {
      // A command that fails changes nothing and must not make the other commands fail.
      return { kind: "failed", error };
    } finally {
      accounts.push(current);
    }
  });
  return { accounts, outcomes };
};

/** True if one update can write the change, and the document stays small enough. */
const isWritable = (before: Account, after: Account): boolean => {
  if (after === before) return true;
  const bytes = documentBytes(after);
  return (bytes <= BILLING_LIMITS.accountBytes || bytes <= documentBytes(before)) && isOneUpdate(before, after);
};

const answer = (batch: Batch, outcomes: readonly Verdict[]): void => {
  batch.forEach((item, index) => {
    const outcome = outcomes[index];
    if (outcome?.kind === "done") item.resolve(outcome.reply);
    else if (outcome?.kind === "needsLedger") item.reject(new Error("a command was left undecided"));
    else item.reject(outcome?.error);
  });
};

const backOffMs = (attempt: number): number => Math.random() * Math.min(2 ** attempt, MAX_BACKOFF_MS);

export type GroupCommit = ReturnType<typeof createGroupCommit>;

/**
 * Group commit: commands that arrive during an account's write share the next write. The write requires the revision that the commands were
 * decided on, so any number of processes is safe; batches only improve throughput. Replies are sent after the write is durable, and every
 * command can be repeated.
 */
export const createGroupCommit = ({ store, outbox, logger }: GroupCommitDependencies) => {
  /** Least recently used accounts come first. Accounts with a batch in progress aren't cached. */
  const cache = new Map<string, CachedAccount>();

  const drain = async ({ userId, outbox: rows }: Account): Promise<void> =>
    outbox.drain(rows).catch((error: unknown) => {
      logger.warn({ err: error, userId }, "the outbox of an account could not be emptied");
      throw isBehind();
    });

  const read = async (userId: string): Promise<Account> => {
    let account = await store.load(userId);
    if (account && outbox.isFull(account.outbox)) {
      await drain(account);
      account = await store.load(userId);
    }
    return account ?? emptyAccount(userId);
  };

  const remembered = (cached: CachedAccount): Account | undefined => {
    if (!cached.account || outbox.isFull(cached.account.outbox)) return undefined;
    if (cached.drained.size > 0) {
      cached.account = { ...cached.account, outbox: cached.account.outbox.filter((row) => !cached.drained.has(row.id)) };
      cached.drained.clear();
    }
    return cached.account;
  };

  /** Looks up rows that the account no longer has. Ledger rows never change. */
  const decideWithLedger = async (account: Account, batch: Batch): Promise<Decision> => {
    const ledger: Ledger = new Map();
    for (;;) {
      const decision = decide(account, batch, ledger);
      const needed = decision.outcomes.flatMap((outcome) => (outcome.kind === "needsLedger" ? outcome.ids : []));
      const unknown = needed.filter((id) => !ledger.has(id));
      if (unknown.length === 0) return decision;
      for (const id of unknown) ledger.set(id, null);
      for (const row of await store.findRows(unknown)) ledger.set(row.id, row);
    }
  };

  const committed = (cached: CachedAccount, before: Account, after: Account): void => {
    cached.account = { ...after, revision: before.revision + 1 };
    const rows = after.outbox.slice(before.outbox.length);
    countMovements(rows);
    outbox.add(rows, ({ id }) => cached.drained.add(id));
  };

  /** Returns how many commands didn't fit although the outbox is empty: the first one, which is then answered. */
  const makeRoom = async (cached: CachedAccount, before: Account, first: BatchItem<Command, unknown>): Promise<number> => {
    cached.account = undefined;
    if (before.outbox.length > 0) {
      await drain(before);
      return 0;
    }
    first.reject(isFull());
    return 1;
  };

  /**
   * Commits the first commands of a batch, as many as one update can write, and replies.
   * @returns their number; 0 if the batch must be decided again on a newer account
   */
  const commitOnce = async (cached: CachedAccount, batch: Batch): Promise<number> => {
    const account = remembered(cached);
    const before = account ?? (await read(cached.userId));
    const { accounts, outcomes } = await decideWithLedger(before, batch);
    const count = accounts.findLastIndex((one) => isWritable(before, one)) + 1;
    if (count === 0) return makeRoom(cached, before, batch[0]!);
    const after = arranged(before, accounts[count - 1]!);
    if (after !== before) {
      if (!(await store.commit(before, after))) return 0;
      committed(cached, before, after);
    } else if (account) {
      // No write has confirmed that the cached account is current.
      return 0;
    } else if (before.revision > 0) {
      cached.account = before;
    }
    answer(batch.slice(0, count), outcomes);
    return count;
  };

  /** @returns the number of answered commands; undefined if there were too many conflicts or failures, or no caller waits */
  const commitSome = async (cached: CachedAccount, batch: Batch, failed: (error: unknown) => void): Promise<number | undefined> => {
    const latest = Math.max(...batch.map(({ deadlineMs }) => deadlineMs));
    let wasCached = false;
    const attempt = async (count: number): Promise<number | "late" | undefined> => {
      if (count > 1 && Date.now() >= latest) return "late";
      wasCached = cached.account !== undefined;
      try {
        const size = await commitOnce(cached, batch);
        if (size > 0) return size;
      } catch (error) {
        failed(error);
        logger.warn({ err: error, userId: cached.userId, attempt: count }, "an account could not be changed, trying again");
      }
      cached.account = undefined;
      return undefined;
    };
    // If the account was cached, it is read again without a pause.
    const pauseMs = (count: number): number => (wasCached ? 0 : backOffMs(count));
    const count = await retryOnConflict(CONFLICT_ATTEMPTS.account, attempt, pauseMs);
    return count === "late" ? undefined : count;
  };

  const commit = async (cached: CachedAccount, batch: Batch): Promise<void> => {
    let refusal: unknown = tooBusy();
    const failed = (error: unknown): void => void (refusal = error instanceof DomainError ? error : tooBusy());
    let rest = batch;
    while (rest.length > 0) {
      const count = await commitSome(cached, rest, failed);
      if (count === undefined) break;
      rest = rest.slice(count);
    }
    for (const item of rest) item.reject(refusal);
  };

  const remember = (cached: CachedAccount): void => {
    if (!cached.account) return;
    cache.set(cached.userId, cached);
    const [oldest] = cache.keys();
    if (cache.size > MAX_CACHED_ACCOUNTS && oldest !== undefined) cache.delete(oldest);
  };

  const batcher = createBatcher<Command, unknown>({
    work: async (userId, batch) => {
      const cached: CachedAccount = cache.get(userId) ?? { userId, drained: new Set() };
      cache.delete(userId);
      await commit(cached, batch);
      remember(cached);
    },
    maxBatch: MAX_BATCH,
    maxWaiting: MAX_WAITING,
    overloaded: tooBusy,
  });

  return {
    /**
     * Applies a command durably.
     * @throws DomainError with the command's error, or SERVICE_UNAVAILABLE if the outcome is unknown; the command can then be repeated
     */
    submit: <C extends Command>(command: C, deadlineMs = Date.now() + DEFAULT_DEADLINE_MS): Promise<ReplyTo<C>> =>
      batcher.submit(command.userId, command, deadlineMs) as Promise<ReplyTo<C>>,

    /** Rejects new commands and waits for commands in progress. */
    close: (): Promise<void> => batcher.close(),
  };
};
