import { createSlots } from "@nodeloom/platform";
import { createTransport } from "nodemailer";
import { MAIL_LIMITS } from "./mails";
import type { Message } from "./message";
import { countMailAttempt } from "./meters";
import type { MailSettings } from "./settings";

/** The mail server's answer to a message. `again`: the server may accept the message later. */
export type TransportResult = { outcome: "sent" } | { outcome: "refused" | "again"; reason: string };

export interface Transport {
  /** Sends a message over its own connection. */
  hand(message: Message): Promise<TransportResult>;
}

const FIRST_PERMANENT = 500;
/**
 * SMTP commands whose rejection concerns the message. A rejection of an earlier command (greeting, password) concerns the server's
 * settings.
 */
const OF_THE_MESSAGE = /^(?:MAIL FROM|RCPT TO|DATA)/;

interface SmtpFailure {
  code?: string;
  responseCode?: number;
  command?: string;
}

const isPermanent = ({ responseCode = 0, command = "" }: SmtpFailure): boolean =>
  responseCode >= FIRST_PERMANENT && OF_THE_MESSAGE.test(command);

/** Returns only the kind of failure, because a server's text can contain the address. */
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
  const send = async (message: Message): Promise<TransportResult> => {
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
