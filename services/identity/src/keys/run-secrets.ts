/** Each owner's secret for runs: it signs the webhooks that runs name, and nothing else. */
import type { WebhookSecretRecord } from "../records";
import type { RunSecretStore } from "./run-secret-store";
import { generateWebhookSecret, type SecretBox } from "./webhook-secrets";
import { signing } from "./webhooks";

export interface RunSecret {
  secret: string;
  createdAt: Date;
}

export interface RunSecrets {
  /** The newest secret. The first request makes it. */
  current(ownerId: string): Promise<RunSecret>;
  /** Makes another secret; the replaced one signs beside it for a day. */
  rotate(ownerId: string): Promise<RunSecret>;
  /** All secrets that must sign now, the newest first. */
  signing(ownerId: string): Promise<string[]>;
}

export interface RunSecretsOptions {
  store: RunSecretStore;
  secretBox: SecretBox;
  clock?: () => number;
}

export const createRunSecrets = ({ store, secretBox, clock = Date.now }: RunSecretsOptions): RunSecrets => {
  // Bound to the purpose, so that a sealed secret can't take the place of a key's.
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
