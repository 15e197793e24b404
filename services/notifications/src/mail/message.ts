import { createHash } from "node:crypto";
import type { SendMailOptions } from "nodemailer";
import { letterHtml, letterText, type Letter } from "./letters/letter";
import type { MailSettings } from "./settings";

export type Message = SendMailOptions;

export interface MessageOptions {
  settings: Pick<MailSettings, "from" | "replyTo">;
  /** Equal for all attempts at one email. Mail servers recognize a repetition by the Message-ID. */
  id: string;
  to: string;
  letter: Letter;
  /** Address for the POST that turns off this kind of email (RFC 8058). */
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
    // Out-of-office programs don't reply to emails with this header.
    "Auto-Submitted": "auto-generated",
    "X-Auto-Response-Suppress": "All",
    ...(oneClickUrl ? { "List-Unsubscribe": `<${oneClickUrl}>`, "List-Unsubscribe-Post": "List-Unsubscribe=One-Click" } : {}),
  },
});
