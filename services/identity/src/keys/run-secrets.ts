/** Each owner has a secret for runs. It signs only webhooks that runs name. */
import type { WebhookSecretRecord } from "./records";
import type { RunSecretStore } from "./run-secret-store";
import { generateWebhookSecret, type SecretBox } from "./webhook-secrets";
import { signing } from "./webhooks";

export interface RunSecret {
  secret: string;
  createdAt: Date;
}

export interface RunSecrets {
  /** Returns the newest secret. The first request creates it. */
  current(ownerId: string): Promise<RunSecret>;
  /** Creates a new secret. The previous one also signs for one day. */
  rotate(ownerId: string): Promise<RunSecret>;
  /** Returns all secrets that must sign now, the newest first. */
  signing(ownerId: string): Promise<string[]>;
}

export interface RunSecretsOptions {
  store: RunSecretStore;
  secretBox: SecretBox;
  clock?: () => number;
}

export const createRunSecrets = ({ store, secretBox, clock = Date.now }: RunSecretsOptions): RunSecrets => {
  // The id contains the purpose, so that an encrypted secret can't replace a key's secret.
  const bound = (ownerId: string): string => `runs:${ownerId}`;
  const open = (ownerId: string, { sealed, createdAt }: WebhookSecretRecord): RunSecret => ({
    secret: secretBox.open(sealed, bound(ownerId)),
    createdAt,
  });
  const newSecret = (ownerId: string): WebhookSecretRecord => ({
    sealed: secretBox.seal(generateWebhookSecret(), bound(ownerId)),
    createdAt: new Date(clock()),
  });

  const all = async (ownerId: string): Promise<WebhookSecretRecord[]> =>
    (await store.find(ownerId)) ?? store.begin(ownerId, newSecret(ownerId));

  return {
    current: async (ownerId) => open(ownerId, (await all(ownerId))[0]!),
    rotate: async (ownerId) => open(ownerId, (await store.add(ownerId, newSecret(ownerId)))[0]!),
    signing: async (ownerId) => signing(await all(ownerId), clock()).map((record) => open(ownerId, record).secret),
  };
};
