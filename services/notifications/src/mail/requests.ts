/** Handles requests of other services to send emails. */
import { DomainError, GRAPH_BOUNDS, invalidRequest, LIMITS } from "@nodeloom/kernel";
import type { notifications } from "@nodeloom/proto";
import { z } from "zod";
import { MAIL_KINDS } from "../store/mails";
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
  z.object({
    ...{ kind: z.literal("decisionRequest"), ownerId: id, executionId: id, personId: z.string().max(LIMITS.idempotencyKeyChars) },
    ...{
      nodeId: z
        .string()
        .min(1)
        .max(GRAPH_BOUNDS.nodeIdBytes * (LIMITS.workflowDepth + 1)),
      address: z.email(),
    },
  }),
]) satisfies z.ZodType<Mail>;

const date = z.date().transform((at) => at.toISOString());
const decisions = z.object({
  ...{ kind: z.enum(["organizationLeaving", "organizationKept"]), organizationId: id, personName: words, erasesAt: date },
});
const earlierMail = z.object({ kind: z.enum(MAIL_KINDS), content: z.instanceof(Buffer), keyId: z.string(), createdAt: z.date() });

/** Kinds for which callers must set an id. Requested links have no id and are distinguished by time. */
const NAMED: readonly Mail["kind"][] = ["invitation", "approval", "decisionRequest", "organizationLeaving", "organizationKept"];

const parsed = <T>({ success, data, error }: z.ZodSafeParseResult<T>): T => {
  if (success) return data;
  throw invalidRequest(error.issues.map(({ path, message }) => ({ path: path.join("."), message })));
};

const notConfigured = (): DomainError =>
  new DomainError("precondition", "NOT_CONFIGURED", "no mail server is configured here: set SMTP_URL and MAIL_FROM");

export type MailMessage = Exclude<NonNullable<notifications.SendRequest["message"]>, { $case: "webhook" | "modelRetiring" }>;

/**
 * Accepts emails.
 * @param queue undefined without a mail server
 */
export const createAcceptMail =
  (queue: Mails | undefined) =>
  async (about: string, message: MailMessage | undefined): Promise<void> => {
    if (!queue) throw notConfigured();
    if (message?.$case === "earlierMail") return queue.adopt({ _id: about, ...parsed(earlierMail.safeParse(message.value)) });
    const mail = parsed(z.union([mails, decisions]).safeParse(message ? { kind: message.$case, ...message.value } : {}));
    if (NAMED.includes(mail.kind) && about === "") throw invalidRequest([{ path: "id", message: "is required" }]);
    if (!("organizationId" in mail)) return queue.add(mail, about);
    const { organizationId, ...decision } = mail;
    return queue.addForOwners(organizationId, decision, about);
  };
