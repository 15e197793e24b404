import { Readable } from "node:stream";
import { createSlots } from "@nodeloom/platform";
import { createTransport } from "nodemailer";
import { MAIL_LIMITS } from "./mails";
import { countMailAttempt } from "./meters";
import type { Message } from "./message";
import type { MailSettings } from "./settings";

/** What a mail server made of a message. `again`: nothing was taken, and that may pass. */
export type Handed = { outcome: "sent" } | { outcome: "refused" | "again"; reason: string };

export interface Smtp {
  /**
   * Hands a message to the mail server.
   * @param onWhole called when everything but the end of the message was sent: from then on the server may take it. The message
   * does not end before that resolves, and is not taken when it rejects.
   */
  hand(message: Message, onWhole: () => Promise<void>): Promise<Handed>;
}

const FIRST_PERMANENT = 500;
/** Commands whose refusal is about the message. What comes before (a greeting, a password) is about the server's settings. */
const OF_THE_MESSAGE = /^(?:MAIL FROM|RCPT TO|DATA)/;

interface SmtpFailure {
  code?: string;
  responseCode?: number;
  command?: string;
}

const isPermanent = ({ responseCode = 0, command = "" }: SmtpFailure): boolean =>
  responseCode >= FIRST_PERMANENT && OF_THE_MESSAGE.test(command);

/** No more of it than its kind: a server's words may have the address in them. */
const reasonOf = ({ code, responseCode, command }: SmtpFailure): string =>
  [code ?? "unknown", ...(responseCode ? [String(responseCode)] : []), ...(command ? [`at ${command}`] : [])].join(" ");

export const createSmtp = ({ host, port, secure, requireTls, ca, auth }: MailSettings): Smtp => {
  const slots = createSlots({ concurrency: MAIL_LIMITS.connections, queueLimit: MAIL_LIMITS.waiting });
  const { connect, silence } = MAIL_LIMITS;
  const transport = createTransport({
    ...{ host, port, secure, auth, requireTLS: requireTls && !secure },
    ...{ connectionTimeout: connect, greetingTimeout: connect, dnsTimeout: connect, socketTimeout: silence },
    tls: { ...(ca ? { ca } : {}), minVersion: "TLSv1.2" },
    disableFileAccess: true,
    disableUrlAccess: true,
  });
  const send = async ({ envelope, bytes }: Message, onWhole: () => Promise<void>): Promise<Handed> => {
    const raw = async function* (): AsyncGenerator<Buffer> {
      yield bytes;
      await onWhole();
    };
    const startedAt = performance.now();
    const took = (): number => performance.now() - startedAt;
    try {
      await transport.sendMail({ envelope, raw: Readable.from(raw()) });
      countMailAttempt("sent", took());
      return { outcome: "sent" };
    } catch (error) {
      const failure = error as SmtpFailure;
      const outcome = isPermanent(failure) ? "refused" : "again";
      countMailAttempt(outcome === "refused" ? "refused" : "failed", took());
      return { outcome, reason: reasonOf(failure) };
    }
  };
  return {
    hand: (message, onWhole) => slots.use(() => send(message, onWhole), { maxWaitMs: MAIL_LIMITS.waitForConnection }),
  };
};
