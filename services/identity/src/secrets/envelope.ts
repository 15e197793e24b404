import { DomainError } from "@nodeloom/kernel";
import { createKeyring, encryptionKey, list, MissingKey, type Keyring } from "@nodeloom/platform";
import { z } from "zod";
import type { SecretRecord } from "../records";

const VARIABLE = "SECRETS_KEYS";

/** Encryption keys from the environment, the newest first. */
export const secretsKeys = () => list().pipe(z.array(encryptionKey()));

/** Encrypts values for storage and binds them to their owner and name. */
export interface Envelope {
  /** False if there are no encryption keys, so that nothing can be stored. */
  readonly isConfigured: boolean;
  /** @throws NOT_CONFIGURED */
  seal(value: string, whose: Pick<SecretRecord, "owner" | "name">): Pick<SecretRecord, "keyId" | "sealed">;
  /** @throws NOT_CONFIGURED if the encryption key is missing; Error if the value was altered or belongs to another owner */
  open(secret: Pick<SecretRecord, "owner" | "name" | "keyId" | "sealed">): string;
  /** Id of the key for new values; undefined without keys. */
  readonly currentId: string | undefined;
}

const contextOf = ({ owner, name }: Pick<SecretRecord, "owner" | "name">): string => JSON.stringify([owner, name]);

const notConfigured = (message: string): DomainError => new DomainError("precondition", "NOT_CONFIGURED", message);

export const createEnvelope = (keys: readonly string[]): Envelope => {
  const keyring = createKeyring({ keys, purpose: "nodeloom identity secrets key", variable: VARIABLE });
  const required = (): Keyring => {
    if (!keyring) throw notConfigured(`this installation keeps no secrets: set ${VARIABLE} for the identity service`);
    return keyring;
  };
  return {
    isConfigured: keyring !== undefined,
    currentId: keyring?.currentId,
    seal: (value, whose) => {
      const { keyId, data } = required().seal(Buffer.from(value, "utf8"), contextOf(whose));
      return { keyId, sealed: data.toString("base64") };
    },
    open: ({ keyId, sealed, ...whose }) => {
      try {
        return required()
          .open({ keyId, data: Buffer.from(sealed, "base64") }, contextOf(whose))
          .toString("utf8");
      } catch (error) {
        if (error instanceof MissingKey) throw notConfigured(`${whose.name} can't be read: ${error.message}`);
        throw error;
      }
    },
  };
};
