import { DomainError, isUnavailable } from "@nodeloom/kernel";
import { createSlots, doubling, retry } from "@nodeloom/platform";
import type { notifications } from "@nodeloom/proto";
import type { Gateway } from "./gateway";
import { MAIL_ASKED_FOR_MS, MAILS_ASKED_FOR } from "../http/limits";
import type { CallContext } from "./route";

type Mail = NonNullable<notifications.SendRequest["message"]>;

interface MailRequest {
  /** Subject of the mail; empty for links that people request. */
  id?: string;
  mail: Mail;
}

/** Limits how long the sign-in page waits. */
const STATE_CALL = { deadlineMs: 2_000 } as const;

/** True if mail is configured; false if it isn't, or while that is unknown. */
export const hasMail = ({ services }: Pick<Gateway, "services">): Promise<boolean> =>
  services.notifications.getMail({}, STATE_CALL).then(
    ({ configured }) => configured,
    () => false,
  );

/** @throws NOT_CONFIGURED */
export const requireMail = async ({ services }: Pick<Gateway, "services">): Promise<void> => {
  const { configured } = await services.notifications.getMail({});
  if (!configured) throw new DomainError("precondition", "NOT_CONFIGURED", "no mail server is configured here: set SMTP_URL and MAIL_FROM");
};

/** Sends a mail. @throws NOT_CONFIGURED */
export const send = async ({ services }: Pick<Gateway, "services">, { id = "", mail }: MailRequest): Promise<void> => {
  await services.notifications.send({ id, message: mail });
};

const FIRST_PAUSE_MS = 500;
const LONGEST_PAUSE_MS = 10_000;
const mailSlots = createSlots({ concurrency: MAILS_ASKED_FOR, queueLimit: 0 });

/** Retries until notifications has stored the mail; its id keeps repetitions from sending a second one. */
const sendPatiently = (gateway: Gateway, mailRequest: MailRequest): Promise<void> =>
  retry(() => send(gateway, mailRequest), {
    pausesMs: doubling(FIRST_PAUSE_MS, LONGEST_PAUSE_MS),
    shouldRetry: isUnavailable,
    until: Date.now() + MAIL_ASKED_FOR_MS,
    signal: gateway.stopping,
  });

/** Sends a mail in the background: the request succeeds even while notifications is unavailable. */
export const sendSoon = ({ gateway, logger }: Pick<CallContext, "gateway" | "logger">, mailRequest: Required<MailRequest>): void => {
  mailSlots
    .use(() => sendPatiently(gateway, mailRequest), { maxWaitMs: 0 })
    .catch((error: unknown) => {
      if (error instanceof DomainError && error.reason === "NOT_CONFIGURED") return;
      logger.warn({ err: error, mail: mailRequest.mail.$case }, "a mail could not be asked for");
    });
};
