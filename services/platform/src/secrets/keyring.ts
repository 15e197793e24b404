import { createCipheriv, createDecipheriv, createHash, randomBytes } from "node:crypto";
import { z } from "zod";

/** secrets/: keys of the operator's under which data is encrypted. */

const CIPHER = "aes-256-gcm";
const NONCE_BYTES = 12;
const TAG_BYTES = 16;
const ID_CHARS = 8;
const KEY = /^[0-9a-fA-F]{64}$/;

export const isEncryptionKey = (text: string): boolean => KEY.test(text);

/** One key as the environment holds it. */
export const encryptionKey = () => z.string().refine(isEncryptionKey, "must be 64 hexadecimal digits");

export interface Sealed {
  /** Names the key. */
  keyId: string;
  /** Nonce, ciphertext, tag. */
  data: Buffer;
}

/** What was sealed can't be opened for lack of its key. The message names the key, and the variable that should have it. */
export class MissingKey extends Error {
  override readonly name = "MissingKey";
}

export interface Keyring {
  /** The key that seals. */
  readonly currentId: string;
  /** Encrypts with the first key, under a nonce of its own, bound to the key's name and a context. */
  seal(plain: Uint8Array, context?: string): Sealed;
  /** Reverses `seal`. @throws MissingKey; Error for what was altered, or sealed in another context */
  open(sealed: { keyId: string; data: Uint8Array }, context?: string): Buffer;
}

export interface KeyringOptions {
  /** 64 hexadecimal digits each. The first seals, all open, so that keys can be replaced while both are in use. */
  keys: readonly string[];
  /** Part of the keys' names: rings for different data name one key differently. */
  purpose: string;
  /** The environment variable that holds the keys, for messages. */
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

/** AES-256-GCM under keys that can be replaced. A key's name is made from the key. Undefined without keys. */
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
