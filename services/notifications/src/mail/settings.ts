import { readFileSync } from "node:fs";
import { ConfigError } from "@nodeloom/platform";
import { z } from "zod";

/** The mail server's settings in the environment. */

const PROTOCOLS: readonly string[] = ["smtp:", "smtps:"];
const SMTP_PORT = 587;
const SMTPS_PORT = 465;

const isServer = (text: string): boolean =>
  URL.canParse(text) && PROTOCOLS.includes(new URL(text).protocol) && new URL(text).hostname !== "";

/** `Name <address>`, or only an address. */
const SENDER = /^(?:([^<>\r\n"]{1,100}?)\s*<([^<>\s]+)>|([^<>\s]+))$/;

const readSender = (text: string): Sender | undefined => {
  const [, name, inBrackets, alone] = SENDER.exec(text.trim()) ?? [];
  const address = inBrackets ?? alone ?? "";
  return z.email().safeParse(address).success ? { name: name ?? "", address } : undefined;
};

const sender = () => z.string().refine((text) => readSender(text) !== undefined, "must be an address, or a name and <address>");

export const mailVariables = {
  SMTP_URL: z
    .string()
    .refine(isServer, "must be smtp://user:password@host:587, or smtps:// with port 465")
    .optional()
    .describe(
      "mail server (`smtp://` with STARTTLS, `smtps://` with TLS from the start), with user and password; no mail is sent without it",
    ),
  SMTP_TLS: z
    .enum(["required", "optional"])
    .default("required")
    .describe("`required` rejects an `smtp://` server without STARTTLS. Use `optional` for a server on the same host"),
  SMTP_TLS_CA_FILE: z.string().optional().describe("certificate authority of the mail server, if it isn't a public one"),
  MAIL_FROM: sender().optional().describe("sender of mails: `Nodeloom <mail@example.com>`. Required with SMTP_URL"),
  MAIL_REPLY_TO: sender().optional().describe("address for replies to mails. Default: MAIL_FROM"),
} as const;

export interface Sender {
  /** Display name; empty if there is none. */
  name: string;
  address: string;
}

export interface MailSettings {
  host: string;
  port: number;
  /** True for TLS from the start of the connection. */
  secure: boolean;
  requireTls: boolean;
  /** Certificate of the server's authority, if it isn't public. */
  ca: Buffer | undefined;
  auth: { user: string; pass: string } | undefined;
  from: Sender;
  replyTo: Sender | undefined;
}

export type MailConfig = Readonly<{ [Name in keyof typeof mailVariables]?: string | undefined }>;

const readCa = (file: string): Buffer => {
  try {
    return readFileSync(file);
  } catch (error) {
    throw new ConfigError(`SMTP_TLS_CA_FILE can't be read: ${(error as Error).message}`);
  }
};

/**
 * Returns the settings; undefined without a mail server.
 * @throws ConfigError
 */
export const mailSettings = (config: MailConfig): MailSettings | undefined => {
  const { SMTP_URL: url, MAIL_FROM: from, MAIL_REPLY_TO: replyTo, SMTP_TLS_CA_FILE: ca } = config;
  if (!url !== !from) throw new ConfigError("set both SMTP_URL and MAIL_FROM, or neither");
  if (!url || !from) return undefined;
  const { protocol, hostname, port, username, password } = new URL(url);
  const secure = protocol === "smtps:";
  return {
    host: hostname.replace(/^\[|\]$/g, ""),
    port: port ? Number(port) : secure ? SMTPS_PORT : SMTP_PORT,
    secure,
    requireTls: config.SMTP_TLS !== "optional",
    ca: ca ? readCa(ca) : undefined,
    auth: username ? { user: decodeURIComponent(username), pass: decodeURIComponent(password) } : undefined,
    from: readSender(from)!,
    replyTo: replyTo ? readSender(replyTo) : undefined,
  };
};
