import { createCipheriv, createDecipheriv, hkdfSync, randomBytes } from "node:crypto";

/** Webhook secrets are needed for signing, so they are stored encrypted with AES-256-GCM and bound to their key. */
const KEY_BYTES = 32;
const IV_BYTES = 12;
const TAG_BYTES = 16;
const SECRET_BYTES = 32;
const SECRET_PREFIX = "whsec_";
const KEY_PURPOSE = "nodeloom identity webhook secrets v1";

/** Creates a signing secret in the form of Standard Webhooks. */
export const generateWebhookSecret = (): string => SECRET_PREFIX + randomBytes(SECRET_BYTES).toString("base64");

export interface SecretBox {
  /** Encrypts a text for one owner id; the result is base64. */
  seal(text: string, owner: string): string;
  /** Decrypts a text. @throws if the text was altered, or was encrypted for another owner or with another pepper */
  open(sealed: string, owner: string): string;
}

/** The encryption key is derived from the API key pepper. */
export const createSecretBox = (pepper: string): SecretBox => {
  const key = Buffer.from(hkdfSync("sha256", pepper, "", KEY_PURPOSE, KEY_BYTES));
  return {
    seal: (text, owner) => {
      const iv = randomBytes(IV_BYTES);
      const cipher = createCipheriv("aes-256-gcm", key, iv).setAAD(Buffer.from(owner));
      const encrypted = Buffer.concat([cipher.update(text, "utf8"), cipher.final()]);
      return Buffer.concat([iv, cipher.getAuthTag(), encrypted]).toString("base64");
    },
    open: (sealed, owner) => {
      const bytes = Buffer.from(sealed, "base64");
      const decipher = createDecipheriv("aes-256-gcm", key, bytes.subarray(0, IV_BYTES), { authTagLength: TAG_BYTES });
      decipher.setAAD(Buffer.from(owner)).setAuthTag(bytes.subarray(IV_BYTES, IV_BYTES + TAG_BYTES));
      return Buffer.concat([decipher.update(bytes.subarray(IV_BYTES + TAG_BYTES)), decipher.final()]).toString("utf8");
    },
  };
};
