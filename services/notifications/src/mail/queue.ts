import { derivedId, type Logger, type RelayedRows, type WindowCounter } from "@nodeloom/platform";
import type { MailKind, MailRecord, MailStore } from "../store/mails";
import type { Contents } from "./content";
import { MAIL_LIMITS, type Mail } from "./mails";
import { countMail } from "./meters";

export interface MailStarter {
  /** Starts the workflow that delivers an email, unless the workflow is running or has ended. */
  startMail(mail: { id: string; kind: MailKind }): Promise<void>;
}

export interface MailQueue {
  /**
   * Queues an email. It is stored and sent independently of its caller. Repeated requests and requests above the recipient's limit send
   * nothing.
   * @param about distinguishes emails of the same kind to the same account; not needed for emails that a person requested
   */
  add(mail: Mail, about?: string): Promise<void>;
  /** Queues a stored email that another service accepted. */
  adopt(record: Pick<MailRecord, "_id" | "kind" | "content" | "keyId" | "createdAt">): Promise<void>;
  /** Rows for the relay: stored emails whose workflow wasn't started because Temporal or the process was down. */
  unstarted: RelayedRows<Pick<MailRecord, "_id" | "kind">>;
}

export interface MailQueueOptions {
  store: Pick<MailStore, "insert" | "noteCarried" | "listNotCarried" | "end">;
  contents: Contents;
  starter: MailStarter;
  /** Counts emails by recipient and kind for each day. */
  counter: WindowCounter;
  logger: Logger;
  clock?: () => number;
}

/** Returns the recipient whose limit applies. Addresses are compared like the addresses of accounts. */
const recipientOf = (mail: Mail): string => {
  if (mail.kind === "passwordReset") return mail.email.trim().toLowerCase();
  return mail.kind === "decisionRequest" ? mail.address : mail.userId;
};

export const createMailQueue = ({ store, contents, starter, counter, logger, clock = Date.now }: MailQueueOptions): MailQueue => {
  const idOf = (mail: Mail, about: string): string => {
    const time = about === "" ? String(Math.floor(clock() / MAIL_LIMITS.sameWithin)) : "";
    return derivedId("mail", mail.kind, recipientOf(mail), about, time);
  };

  const isWithin = async (most: number, ...counted: readonly string[]): Promise<boolean> =>
    (await counter.count(derivedId(...counted), most)).isWithin;

  const isTooMany = async (mail: Mail, recipient: string): Promise<boolean> => {
    const { kind } = mail;
    if (!(await isWithin(MAIL_LIMITS.perDay[kind], kind, recipient))) return true;
    // Workflows name the addresses, so an account can't mail without a limit.
    return kind === "decisionRequest" && !(await isWithin(MAIL_LIMITS.decisionRequestsOfAccount, kind, "account", mail.ownerId));
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
