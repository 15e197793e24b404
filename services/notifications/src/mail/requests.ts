/** The gRPC service of mail: it maps, calls and maps. */
import { DomainError, invalidRequest, LIMITS } from "@nodeloom/kernel";
import { unary } from "@nodeloom/platform";
import { type mail as messages } from "@nodeloom/proto";
import { z } from "zod";
import type { Mail } from "./mails";
import type { Mails } from "./owners";

const id = z.string().min(1).max(LIMITS.idempotencyKeyChars);
const words = z.string().trim().min(1).max(LIMITS.nameChars);
const mails = z.discriminatedUnion("kind", [
  z.object({ kind: z.literal("passwordReset"), email: z.email() }),
  z.object({ kind: z.literal("verification"), userId: id }),
  z.object({
    ...{ kind: z.literal("invitation"), userId: id, to: z.email(), organizationName: words, inviterName: words },
    link: z.url({ protocol: /^https?$/ }).max(2_000),
  }),
  z.object({ kind: z.literal("approval"), userId: id }),
]) satisfies z.ZodType<Mail>;

const date = z.date().transform((at) => at.toISOString());
const decisions = z.object({
  ...{ kind: z.enum(["organizationLeaving", "organizationKept"]), organizationId: id, personName: words, erasesAt: date },
});

/** Kinds that their callers must tell apart. Links that people ask for are told apart by time where no id is given. */
const NAMED: readonly Mail["kind"][] = ["invitation", "approval", "organizationLeaving", "organizationKept"];

const readMail = ({ mail }: messages.SendMailRequest): z.infer<typeof mails> | z.infer<typeof decisions> => {
  const parsed = z.union([mails, decisions]).safeParse(mail ? { kind: mail.$case, ...mail.value } : {});
  if (parsed.success) return parsed.data;
  throw invalidRequest(parsed.error.issues.map(({ path, message }) => ({ path: path.join("."), message })));
};

const notConfigured = (): DomainError =>
  new DomainError("precondition", "NOT_CONFIGURED", "no mail server is configured here: set SMTP_URL and MAIL_FROM");

export const mailHandlers = (queue: Mails | undefined): messages.MailServiceServer => ({
  getMail: unary((_request: messages.GetMailRequest) => Promise.resolve({ configured: queue !== undefined })),
  sendMail: unary(async (request: messages.SendMailRequest) => {
    if (!queue) throw notConfigured();
    const mail = readMail(request);
    if (NAMED.includes(mail.kind) && request.id === "") throw invalidRequest([{ path: "id", message: "is required" }]);
    if ("organizationId" in mail) {
      const { organizationId, ...decision } = mail;
      await queue.addForOwners(organizationId, decision, request.id);
    } else await queue.add(mail, request.id);
    return {};
  }),
});
