import { createSlots } from "@nodeloom/platform";
import { createTransport } from "nodemailer";
import { MAIL_LIMITS } from "./mails";
import type { Message } from "./message";
import { countMailAttempt } from "./meters";
import type { MailSettings } from "./settings";

/** What a mail server made of a message. `again`: it may be taken later. */
export type Handed = { outcome: "sent" } | { outcome: "refused" | "again"; reason: string };

export interface Transport {
  /** Hands a message to the mail server, over a connection of its own. */
  hand(message: Message): Promise<Handed>;
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

export const createMailTransport = ({ host, port, secure, requireTls, ca, auth }: MailSettings): Transport => {
  const { connect, silence } = MAIL_LIMITS;
  const transport = createTransport({
    ...{ host, port, secure, auth, requireTLS: requireTls && !secure, disableFileAccess: true, disableUrlAccess: true },
    ...{ connectionTimeout: connect, greetingTimeout: connect, dnsTimeout: connect, socketTimeout: silence },
    tls: { ...(ca ? { ca } : {}), minVersion: "TLSv1.2" },
  });
  const slots = createSlots({ concurrency: MAIL_LIMITS.connections, queueLimit: MAIL_LIMITS.waiting });
  const send = async (message: Message): Promise<Handed> => {
    const startedAt = performance.now();
    const took = (): number => performance.now() - startedAt;
    try {
      await transport.sendMail(message);
      countMailAttempt("sent", took());
      return { outcome: "sent" };
    } catch (error) {
      const failure = error as SmtpFailure;
      const outcome = isPermanent(failure) ? "refused" : "again";
      countMailAttempt(outcome === "refused" ? "refused" : "failed", took());
      return { outcome, reason: reasonOf(failure) };
    }
  };
  return { hand: (message) => slots.use(() => send(message), { maxWaitMs: MAIL_LIMITS.waitForConnection }) };
};
