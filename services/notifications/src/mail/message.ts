import { createHash } from "node:crypto";
import MailComposer from "nodemailer/lib/mail-composer";
import { letterHtml, letterText, type Letter } from "./letters/letter";
import type { MailSettings, Sender } from "./settings";

/** A letter as a message (RFC 5322), with its envelope. */
export interface Message {
  envelope: { from: string; to: string[] };
  bytes: Buffer;
}

export interface MessageOptions {
  settings: Pick<MailSettings, "from" | "replyTo">;
  /** The mail's: attempts at it have one Message-ID. */
  id: string;
  to: string;
  letter: Letter;
  /** Takes a POST that switches this kind of mail off (RFC 8058). */
  oneClickUrl?: string | undefined;
}

const mailbox = ({ name, address }: Sender) => ({ name, address });

const domainOf = (address: string): string => address.slice(address.lastIndexOf("@") + 1);

/** @throws what the composer refuses: an address that is none */
export const createMessage = async ({ settings, id, to, letter, oneClickUrl }: MessageOptions): Promise<Message> => {
  const { from, replyTo } = settings;
  const composer = new MailComposer({
    from: mailbox(from),
    to: { name: "", address: to },
    ...(replyTo ? { replyTo: mailbox(replyTo) } : {}),
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
    disableFileAccess: true,
    disableUrlAccess: true,
  });
  const composed = composer.compile();
  const envelope = composed.getEnvelope();
  return { envelope: { from: envelope.from || from.address, to: envelope.to }, bytes: await composed.build() };
};
