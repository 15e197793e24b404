import type { AddressInfo } from "node:net";
import { SMTPServer, type SMTPServerOptions } from "smtp-server";

export interface ReceivedMail {
  from: string;
  to: string[];
  /** Raw message: headers, an empty line, the body. */
  text: string;
  secure: boolean;
}

/** The server's replies to a complete message or to a recipient; it accepts them if undefined. */
export interface Refusals {
  recipient?: (address: string) => Error | undefined;
  message?: (count: number) => Error | undefined | Promise<undefined>;
}

export const refusal = (responseCode: number): Error => Object.assign(new Error("refused by the test"), { responseCode });

export interface MailServer {
  port: number;
  received: ReceivedMail[];
  stop(): Promise<void>;
}

/** An SMTP server that stores accepted messages. */
export const startMailServer = async (refusals: Refusals = {}, options: SMTPServerOptions = {}): Promise<MailServer> => {
  const received: ReceivedMail[] = [];
  let messages = 0;
  const server = new SMTPServer({
    authOptional: true,
    disabledCommands: ["AUTH"],
    hideSTARTTLS: true,
    closeTimeout: 100,
    onRcptTo: ({ address }, _session, callback) => callback(refusals.recipient?.(address)),
    onData: (stream, session, callback) => {
      const chunks: Buffer[] = [];
      stream.on("data", (chunk: Buffer) => void chunks.push(chunk));
      stream.on("end", () => {
        messages += 1;
        const { mailFrom, rcptTo } = session.envelope;
        const mail = {
          from: mailFrom === false ? "" : mailFrom.address,
          to: rcptTo.map(({ address }) => address),
          text: Buffer.concat(chunks).toString("utf8"),
          secure: session.secure,
        };
        void Promise.resolve(refusals.message?.(messages)).then((error) => {
          if (!error) received.push(mail);
          callback(error);
        });
      });
    },
    ...options,
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  // Some tests use clients that disconnect early.
  server.on("error", () => undefined);
  return {
    port: (server.server.address() as AddressInfo).port,
    received,
    stop: () => new Promise((resolve) => server.close(resolve)),
  };
};

/** Unfolded headers by lower-case name. A repeated header has several values. */
export const headersOf = ({ text }: ReceivedMail): Record<string, string[]> => {
  const headers: Record<string, string[]> = {};
  const head = text.slice(0, text.indexOf("\r\n\r\n")).replace(/\r\n[ \t]+/g, " ");
  for (const line of head.split("\r\n")) {
    const [name = "", ...rest] = line.split(":");
    (headers[name.toLowerCase()] ??= []).push(rest.join(":").trim());
  }
  return headers;
};
