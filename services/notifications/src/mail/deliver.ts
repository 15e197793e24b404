import type { Logger } from "@nodeloom/platform";
import type { MailEnd, MailRecord, MailStore } from "../store/mails";
import type { Contents } from "./content";
import { pauseAfter } from "./mails";
import { createMessage } from "./message";
import { countMail, noteMailAge } from "./meters";
import type { MailSettings } from "./settings";
import type { Handed, Smtp } from "./smtp";
import type { WriteMail } from "./write";

/** What came of an attempt: the end of the mail, or the pause before the next attempt, in milliseconds. */
export type MailStep = { end: MailEnd } | { pauseMs: number };

export interface DeliverOptions {
  store: Pick<MailStore, "find" | "noteHanded" | "takeBack" | "end">;
  contents: Pick<Contents, "open">;
  write: WriteMail;
  smtp: Smtp;
  settings: Pick<MailSettings, "from" | "replyTo">;
  logger: Logger;
  clock?: () => number;
}

export const createDeliver = ({ store, contents, write, smtp, settings, logger, clock = Date.now }: DeliverOptions) => {
  const ended = async ({ _id, kind, createdAt }: MailRecord, end: MailEnd, reason?: string): Promise<MailStep> => {
    if (!(await store.end(_id, end))) return { end };
    countMail(kind, end);
    if (end === "sent") noteMailAge(kind, clock() - createdAt.getTime());
    if (end === "refused" || end === "given up") logger.error({ mail: _id, kind, end, reason }, "a mail was not sent");
    if (end === "unknown") logger.warn({ mail: _id, kind }, "a mail was handed over by a process that died before it had the answer");
    return { end };
  };

  const hand = async (record: MailRecord): Promise<Handed | null> => {
    const written = await write(contents.open(record));
    if (!written) return null;
    const message = await createMessage({ settings, id: record._id, ...written });
    let isNoted = false;
    const handed = await smtp.hand(message, async () => {
      isNoted = await store.noteHanded(record._id, new Date(clock()));
      if (!isNoted) throw new Error("another attempt hands this mail over");
    });
    // What another attempt has noted is its own.
    if (isNoted && handed.outcome !== "sent") await store.takeBack(record._id);
    return handed;
  };

  /**
   * Makes an attempt at a mail.
   * A message that was handed over whole, by a process that died before it had the answer, is not sent again: a mail server takes what
   * it has whole. An answer that did not come while the process lives is a failure, and the mail is sent again.
   * @param attempt from 1
   * @throws what services and databases that are away throw: the attempt is made again
   */
  return async (mailId: string, attempt: number): Promise<MailStep> => {
    const record = await store.find(mailId);
    if (!record) return { end: "given up" };
    if (record.end) return { end: record.end };
    if (record.handedAt) return ended(record, "unknown");
    const handed = await hand(record);
    if (!handed) return ended(record, "not wanted");
    if (handed.outcome === "sent") return ended(record, "sent");
    if (handed.outcome === "refused") return ended(record, "refused", handed.reason);
    const pauseMs = pauseAfter(record.kind, attempt, clock() - record.createdAt.getTime());
    if (pauseMs === null) return ended(record, "given up", handed.reason);
    logger.warn({ mail: mailId, kind: record.kind, attempt, pauseMs, reason: handed.reason }, "a mail could not be sent yet");
    return { pauseMs };
  };
};
