import { createKeyring, type Keyring } from "@nodeloom/platform";
import type { MailRecord } from "../store/mails";
import type { Mail } from "./mails";

/** Stores the content of emails until they are sent or abandoned. */

const UNENCRYPTED = "unencrypted";

export type Content = Pick<MailRecord, "content" | "keyId">;

export interface Contents {
  seal(id: string, mail: Mail): Content;
  /** @throws if the key no longer exists */
  open(record: Content & Pick<MailRecord, "_id">): Mail;
}

/**
 * @param mailKeys the first key encrypts, all keys decrypt; without keys nothing is encrypted. `unencrypted` in the list has no effect here
 */
export const createContents = (mailKeys: readonly string[]): Contents => {
  const keys = mailKeys.filter((entry) => entry !== UNENCRYPTED);
  const keyring: Keyring | undefined = createKeyring({ keys, purpose: "nodeloom mail key", variable: "MAIL_KEYS" });
  return {
    seal: (id, mail) => {
      const plain = Buffer.from(JSON.stringify(mail));
      if (!keyring) return { content: plain, keyId: "" };
      const { keyId, data } = keyring.seal(plain, id);
      return { content: data, keyId };
    },
    open: ({ _id, content, keyId }) => {
      if (keyId !== "" && !keyring) throw new Error(`a mail is encrypted with the key ${keyId}, which MAIL_KEYS does not have`);
      const plain = keyId === "" ? content : keyring!.open({ keyId, data: content }, _id);
      return JSON.parse(plain.toString("utf8")) as Mail;
    },
  };
};
