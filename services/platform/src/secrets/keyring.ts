import { createCipheriv, createDecipheriv, createHash, randomBytes } from "node:crypto";
import { z } from "zod";

/** secrets/: the operator's keys for encrypting stored data. */

const CIPHER = "aes-256-gcm";
const NONCE_BYTES = 12;
const TAG_BYTES = 16;
const ID_CHARS = 8;
const KEY = /^[0-9a-fA-F]{64}$/;

export const isEncryptionKey = (text: string): boolean => KEY.test(text);

/** A key in the form of an environment variable. */
export const encryptionKey = () => z.string().refine(isEncryptionKey, "must be 64 hexadecimal digits");

export interface SealedValue {
  keyId: string;
  /** Nonce, ciphertext and tag. */
  data: Buffer;
}

/** Thrown if the key that encrypted the data is missing. The message names the key and its variable. */
export class MissingKey extends Error {
  override readonly name = "MissingKey";
}

export interface Keyring {
  /** Id of the key that encrypts. */
  readonly currentId: string;
  /** Encrypts with the first key and a new nonce. The result is bound to the key's name and to a context. */
  seal(plain: Uint8Array, context?: string): SealedValue;
  /**
   * Decrypts the result of `seal`.
   * @throws MissingKey; Error for altered data or another context
   */
  open(sealed: { keyId: string; data: Uint8Array }, context?: string): Buffer;
}

export interface KeyringOptions {
  /**
   * Keys with 64 hexadecimal digits each. The first key encrypts and all keys decrypt, so that keys can be replaced while both are in use.
   */
  keys: readonly string[];
  /** Part of the keys' names. One key has different names for different purposes. */
  purpose: string;
  /** The environment variable with the keys, named in messages. */
  variable: string;
}

interface Key {
  id: string;
  secret: Buffer;
}

const readKey = (hex: string, purpose: string): Key => {
  const secret = Buffer.from(hex, "hex");
  return { id: createHash("sha256").update(purpose).update(secret).digest("hex").slice(0, ID_CHARS), secret };
};

/** AES-256-GCM with replaceable keys. A key's name is derived from the key. Undefined if there are no keys. */
export const createKeyring = ({ keys, purpose, variable }: KeyringOptions): Keyring | undefined => {
  const ring = keys.map((hex) => readKey(hex, purpose));
  const [current] = ring;
  if (!current) return undefined;
  const bound = (id: string, context: string): Buffer => Buffer.from(`${id}${context}`);
  return {
    currentId: current.id,
    seal: (plain, context = "") => {
      const nonce = randomBytes(NONCE_BYTES);
      const cipher = createCipheriv(CIPHER, current.secret, nonce).setAAD(bound(current.id, context));
      const sealed = Buffer.concat([cipher.update(plain), cipher.final()]);
      return { keyId: current.id, data: Buffer.concat([nonce, sealed, cipher.getAuthTag()]) };
    },
    open: ({ keyId, data }, context = "") => {
      const key = ring.find(({ id }) => id === keyId);
      if (!key) throw new MissingKey(`it is encrypted with the key ${keyId}, which ${variable} does not have`);
      const decipher = createDecipheriv(CIPHER, key.secret, data.subarray(0, NONCE_BYTES), { authTagLength: TAG_BYTES });
      decipher.setAAD(bound(keyId, context)).setAuthTag(data.subarray(-TAG_BYTES));
      return Buffer.concat([decipher.update(data.subarray(NONCE_BYTES, -TAG_BYTES)), decipher.final()]);
    },
  };
};
