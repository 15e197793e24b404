import { createHash } from "node:crypto";
import type { SendMailOptions } from "nodemailer";
import { letterHtml, letterText, type Letter } from "./letters/letter";
import type { MailSettings } from "./settings";

/** A letter as nodemailer takes it. */
export type Message = SendMailOptions;

export interface MessageOptions {
  settings: Pick<MailSettings, "from" | "replyTo">;
  /** The mail's: attempts at it have one Message-ID, by which mail servers recognize a repetition. */
  id: string;
  to: string;
  letter: Letter;
  /** Takes a POST that switches this kind of mail off (RFC 8058). */
  oneClickUrl?: string | undefined;
}

const domainOf = (address: string): string => address.slice(address.lastIndexOf("@") + 1);

export const createMessage = ({ settings: { from, replyTo }, id, to, letter, oneClickUrl }: MessageOptions): Message => ({
  from,
  to: { name: "", address: to },
  ...(replyTo ? { replyTo } : {}),
  subject: letter.subject,
  text: letterText(letter),
  html: letterHtml(letter),
  messageId: `<${createHash("sha256").update(id).digest("hex").slice(0, 32)}@${domainOf(from.address)}>`,
  headers: {
    // Programs that answer for people who are away leave these alone.
    "Auto-Submitted": "auto-generated",
    "X-Auto-Response-Suppress": "All",
    ...(oneClickUrl ? { "List-Unsubscribe": `<${oneClickUrl}>`, "List-Unsubscribe-Post": "List-Unsubscribe=One-Click" } : {}),
  },
});
