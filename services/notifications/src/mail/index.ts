import { createWindowCounter, type Logger, type Redis } from "@nodeloom/platform";
import type { EmailAddresses, Executions } from "../clients";
import type { MailStore } from "../store/mails";
import { createContents } from "./content";
import { createDeliver, type MailStep } from "./deliver";
import { DAY_SECONDS } from "./mails";
import { createOwnersMails, type Mails } from "./owners";
import { createMailQueue, type MailStarter } from "./queue";
import { mailSettings, type MailConfig } from "./settings";
import { createMailTransport } from "./transport";
import { createWriter } from "./write";

export interface Mailing {
  /** Undefined without a mail server. */
  queue: Mails | undefined;
  deliver(mailId: string, attempt: number): Promise<MailStep>;
}

export interface MailingOptions {
  config: MailConfig & Readonly<Record<"REDIS_KEY_PREFIX" | "PUBLIC_BASE_URL", string>> & { MAIL_KEYS: readonly string[] };
  store: MailStore;
  addresses: Pick<EmailAddresses, "createMailedReset" | "createVerification" | "getAddress" | "listOwners">;
  executions: Pick<Executions, "createDecisionLink">;
  starter: MailStarter;
  redis: Redis;
  logger: Logger;
  clock?: () => number;
}

/** Wires the sending of emails. Without a mail server no email is queued, and emails that were queued earlier end as abandoned. */
export const createMailing = ({
  config,
  store,
  addresses,
  executions,
  starter,
  redis,
  logger,
  clock = Date.now,
}: MailingOptions): Mailing => {
  const settings = mailSettings(config);
  if (!settings) {
    return {
      queue: undefined,
      deliver: async (mailId) => {
        await store.end(mailId, "given up");
        return { end: "given up" };
      },
    };
  }
  const counter = createWindowCounter({ redis, keyPrefix: `${config.REDIS_KEY_PREFIX}mails`, windowSeconds: DAY_SECONDS });
  const contents = createContents(config.MAIL_KEYS);
  const write = createWriter({ addresses, executions, baseUrl: config.PUBLIC_BASE_URL.replace(/(?<!\/)\/+$/, "") });
  const queue = createMailQueue({ store, contents, starter, counter, logger, clock });
  return {
    queue: { ...queue, ...createOwnersMails({ queue, addresses }) },
    deliver: createDeliver({ store, contents, write, transport: createMailTransport(settings), settings, logger, clock }),
  };
};
