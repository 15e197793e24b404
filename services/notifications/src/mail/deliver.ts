import type { Logger } from "@nodeloom/platform";
import type { MailEnd, MailRecord, MailStore } from "../store/mails";
import type { Contents } from "./content";
import { pauseAfter } from "./mails";
import { createMessage } from "./message";
import { countMail, noteMailAge } from "./meters";
import type { MailSettings } from "./settings";
import type { TransportResult, Transport } from "./transport";
import type { WriteMail } from "./write";

/** Result of an attempt: how the email ended, or the pause before the next attempt in milliseconds. */
export type MailStep = { end: MailEnd } | { pauseMs: number };

export interface DeliverOptions {
  store: Pick<MailStore, "find" | "end">;
  contents: Pick<Contents, "open">;
  write: WriteMail;
  transport: Transport;
  settings: Pick<MailSettings, "from" | "replyTo">;
  logger: Logger;
  clock?: () => number;
}

export const createDeliver = ({ store, contents, write, transport, settings, logger, clock = Date.now }: DeliverOptions) => {
  const endMail = async ({ _id, kind, createdAt }: MailRecord, end: MailEnd, reason?: string): Promise<MailStep> => {
    if (!(await store.end(_id, end))) return { end };
    countMail(kind, end);
    if (end === "sent") noteMailAge(kind, clock() - createdAt.getTime());
    if (end === "refused" || end === "given up") logger.error({ mail: _id, kind, end, reason }, "a mail was not sent");
    return { end };
  };

  const hand = async (record: MailRecord): Promise<TransportResult | null> => {
    const letter = await write(contents.open(record));
    return letter && transport.hand(createMessage({ settings, id: record._id, ...letter }));
  };

  /**
   * Makes one attempt to send an email. If this process dies before it records the server's answer, the email is sent again with the same
   * Message-ID.
   * @param attempt number of the attempt, starting at 1
   * @throws errors of unavailable services and databases, after which the attempt is repeated
   */
  return async (mailId: string, attempt: number): Promise<MailStep> => {
    const record = await store.find(mailId);
    if (!record) return { end: "given up" };
    if (record.end) return { end: record.end };
    const handed = await hand(record);
    if (!handed) return endMail(record, "not wanted");
    if (handed.outcome === "sent") return endMail(record, "sent");
    if (handed.outcome === "refused") return endMail(record, "refused", handed.reason);
    const pauseMs = pauseAfter(record.kind, attempt, clock() - record.createdAt.getTime());
    if (pauseMs === null) return endMail(record, "given up", handed.reason);
    logger.warn({ mail: mailId, kind: record.kind, attempt, pauseMs, reason: handed.reason }, "a mail could not be sent yet");
    return { pauseMs };
  };
};
