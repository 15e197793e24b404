import { Readable } from "node:stream";
import { createSlots } from "@nodeloom/platform";
import SMTPConnection from "nodemailer/lib/smtp-connection";
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
   * does not end before that resolves, and is not taken when it rejects. Not called where the server refuses the sender or the recipient.
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

const connectionTo = ({ host, port, secure, requireTls, ca }: MailSettings): SMTPConnection => {
  const { connect, silence } = MAIL_LIMITS;
  return new SMTPConnection({
    ...{ host, port, secure, requireTLS: requireTls && !secure },
    ...{ connectionTimeout: connect, greetingTimeout: connect, dnsTimeout: connect, socketTimeout: silence },
    tls: { ...(ca ? { ca } : {}), minVersion: "TLSv1.2" },
  });
};

/**
 * Sends one message over a connection of its own. Not by nodemailer's transport, which reads a message ahead, before the server has
 * taken its sender: here it is read once the server waits for it.
 * @throws SmtpFailure
 */
const sendAlone = (settings: MailSettings, { envelope, bytes }: Message, onWhole: () => Promise<void>): Promise<void> =>
  new Promise((resolve, reject) => {
    const connection = connectionTo(settings);
    const end = (error?: Error | null): void => {
      connection.close();
      if (error) reject(error);
      else resolve();
    };
    const content = async function* (): AsyncGenerator<Buffer> {
      yield bytes;
      await onWhole();
    };
    const send = (error?: Error | null): void => {
      if (error) end(error);
      else connection.send(envelope, Readable.from(content()), end);
    };
    connection.on("error", end);
    connection.connect((error) => {
      if (error || !settings.auth || !connection.allowsAuth) send(error);
      else connection.login(settings.auth, send);
    });
  });

export const createSmtp = (settings: MailSettings): Smtp => {
  const slots = createSlots({ concurrency: MAIL_LIMITS.connections, queueLimit: MAIL_LIMITS.waiting });
  const send = async (message: Message, onWhole: () => Promise<void>): Promise<Handed> => {
    const startedAt = performance.now();
    const took = (): number => performance.now() - startedAt;
    try {
      await sendAlone(settings, message, onWhole);
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
