import { derivedId, type Logger, type RelayedRows, type WindowCounter } from "@nodeloom/platform";
import type { MailKind, MailRecord, MailStore } from "../store/mails";
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
  /** Takes a mail that was accepted elsewhere, as it is stored. */
  adopt(record: Pick<MailRecord, "_id" | "kind" | "content" | "keyId" | "createdAt">): Promise<void>;
  /** What the relay starts: mails that were stored, and for want of Temporal or of their process not started. */
  unstarted: RelayedRows<Pick<MailRecord, "_id" | "kind">>;
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

  const startSoon = (id: string, kind: MailKind): Promise<void> =>
    start(id, kind).catch((err: unknown) => logger.warn({ err, mail: id }, "a mail is stored, and will be started later"));

  return {
    add: async (mail, about = "") => {
      const [id, { kind }] = [idOf(mail, about), mail];
      const record = { _id: id, kind, ...contents.seal(id, mail), carried: false, end: null, createdAt: new Date(clock()) };
      if (!(await store.insert(record))) return;
      if (await isTooMany(mail, recipientOf(mail))) {
        await store.end(id, "too many");
        countMail(kind, "too many");
        return;
      }
      await startSoon(id, kind);
    },

    adopt: async (record) => {
      if (await store.insert({ ...record, carried: false, end: null })) await startSoon(record._id, record.kind);
    },

    unstarted: {
      name: "mails",
      page: store.listNotCarried,
      signatureOf: ({ _id }) => _id,
      settle: async (rows) => {
        for (const { _id, kind } of rows) await start(_id, kind);
        return true;
      },
    },
  };
};
