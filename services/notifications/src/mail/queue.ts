import { derivedId, type Logger, type WindowCounter } from "@nodeloom/platform";
import type { MailKind, MailStore } from "../store/mails";
import type { Contents } from "./content";
import { MAIL_LIMITS, type Mail } from "./mails";
import { countMail } from "./meters";

export interface MailStarter {
  /** Has a workflow deliver a mail, unless one does or did. */
  startMail(mail: { id: string; kind: MailKind }): Promise<void>;
}

export interface MailQueue {
  /**
   * Takes a mail to be delivered: it is stored, and goes on without its caller. One that was wanted before is not sent again, and one
   * that is too many for its recipient not at all.
   * @param about what makes two mails of a kind to one account different; not needed of those that are asked for by their readers
   */
  add(mail: Mail, about?: string): Promise<void>;
  /** Starts what was stored, and for want of Temporal or of its process not started. */
  startForgotten(signal?: AbortSignal): Promise<void>;
}

export interface MailQueueOptions {
  store: Pick<MailStore, "insert" | "noteCarried" | "listNotCarried" | "end">;
  contents: Contents;
  starter: MailStarter;
  /** Of mails, by recipient and kind, in a day. */
  counter: WindowCounter;
  logger: Logger;
  clock?: () => number;
}

/** Whom a mail counts for. Addresses are compared as accounts' are. */
const recipientOf = (mail: Mail): string => (mail.kind === "passwordReset" ? mail.email.trim().toLowerCase() : mail.userId);

export const createMailQueue = ({ store, contents, starter, counter, logger, clock = Date.now }: MailQueueOptions): MailQueue => {
  const idOf = (mail: Mail, about: string): string => {
    const time = about === "" ? String(Math.floor(clock() / MAIL_LIMITS.sameWithin)) : "";
    return derivedId("mail", mail.kind, recipientOf(mail), about, time);
  };

  const isTooMany = async ({ kind }: Mail, recipient: string): Promise<boolean> => {
    const counted = await counter.count(derivedId(kind, recipient), MAIL_LIMITS.perDay[kind]);
    return !counted.isWithin;
  };

  const start = async (id: string, kind: MailKind): Promise<void> => {
    await starter.startMail({ id, kind });
    await store.noteCarried(id);
  };

  return {
    add: async (mail, about = "") => {
      const [id, { kind }, now] = [idOf(mail, about), mail, clock()];
      const record = { _id: id, kind, ...contents.seal(id, mail), carried: false, handedAt: null, end: null, createdAt: new Date(now) };
      if (!(await store.insert(record))) return;
      if (await isTooMany(mail, recipientOf(mail))) {
        await store.end(id, "too many");
        countMail(kind, "too many");
        return;
      }
      await start(id, kind).catch((err: unknown) => logger.warn({ err, mail: id }, "a mail is stored, and will be started later"));
    },

    startForgotten: async (signal) => {
      const before = new Date(clock() - MAIL_LIMITS.startLost);
      for (const { _id, kind } of await store.listNotCarried(before, MAIL_LIMITS.startedAtOnce)) {
        signal?.throwIfAborted();
        await start(_id, kind);
      }
    },
  };
};
