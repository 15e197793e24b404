/** mail/: what the platform mails to people, where a mail server is configured. */
import { DomainError } from "@nodeloom/kernel";
import { type mail as messages } from "@nodeloom/proto";
import type { Gateway } from "../../gateway";
import type { CallContext } from "../../http/route";

type Mail = NonNullable<messages.SendMailRequest["mail"]>;

interface Wanted {
  /** What it is about; empty for links that people ask for. */
  id?: string;
  mail: Mail;
}

/** How long the sign-in page waits for it. */
const STATE_CALL = { deadlineMs: 2_000 } as const;

/** Whether mail is configured; no where that is not known right now. */
export const hasMail = ({ services }: Pick<Gateway, "services">): Promise<boolean> =>
  services.mail.getMail({}, STATE_CALL).then(
    ({ configured }) => configured,
    () => false,
  );

/** @throws NOT_CONFIGURED */
export const requireMail = async ({ services }: Pick<Gateway, "services">): Promise<void> => {
  const { configured } = await services.mail.getMail({});
  if (!configured) throw new DomainError("precondition", "NOT_CONFIGURED", "no mail server is configured here: set SMTP_URL and MAIL_FROM");
};

/** Has a mail sent. @throws NOT_CONFIGURED */
export const send = async ({ services }: Pick<Gateway, "services">, { id = "", mail }: Wanted): Promise<void> => {
  await services.mail.sendMail({ id, mail });
};

/** Has a mail sent that nothing depends on: its request is answered without it. */
export const sendSoon = ({ gateway, logger }: Pick<CallContext, "gateway" | "logger">, wanted: Wanted): void => {
  send(gateway, wanted).catch((error: unknown) => {
    if (error instanceof DomainError && error.reason === "NOT_CONFIGURED") return;
    logger.warn({ err: error, mail: wanted.mail.$case }, "a mail could not be asked for");
  });
};
