import { DomainError, invalidRequest, type Issue } from "@nodeloom/kernel";
import type { Changes } from "./changes";
import { requireWebhookGrant } from "./grants";
import type { KeyStore } from "./key-store";
import type { KeyRecord, WebhookRecord, WebhookSecretRecord } from "./records";
import { generateWebhookSecret, type SecretBox } from "./secrets";

export const WEBHOOK_EVENTS = ["execution.completed", "execution.failed", "execution.cancelled"] as const;
const MAX_URL_CHARS = 2_048;
const MAX_REASON_CHARS = 500;
/** How long a replaced secret signs beside its successor. */
export const SECRET_OVERLAP_MS = 24 * 60 * 60 * 1_000;

export interface WebhookRequest {
  url: string;
  /** Empty means every event. */
  events: string[];
}

/** Where to deliver and what to sign with now, the newest secret first. */
export interface WebhookTarget {
  /** Empty when nothing is to be delivered. */
  url: string;
  secrets: string[];
  events: string[];
}

export interface Webhooks {
  /** Sets or replaces a key's webhook, enabled, with a new secret. CAPABILITY_DENIED when the key may not receive. */
  set(userId: string, keyId: string, request: WebhookRequest): Promise<{ key: KeyRecord; secret: string }>;
  /** Removes it; a key without one stays as it is. */
  remove(userId: string, keyId: string): Promise<KeyRecord>;
  /** With an owner, NOT_FOUND for another one's key. */
  target(keyId: string, userId?: string): Promise<WebhookTarget>;
  /** Stops deliveries to a URL that is gone; does nothing when the webhook has another one by now. */
  disable(keyId: string, url: string, reason: string): Promise<void>;
}

export const noSuchKey = (): DomainError => new DomainError("not_found", "NOT_FOUND", "no such key");

const urlProblem = (text: string): string | undefined => {
  if (text.length > MAX_URL_CHARS) return `must have at most ${MAX_URL_CHARS} characters`;
  if (!URL.canParse(text)) return "must be a URL";
  const url = new URL(text);
  if (url.protocol !== "http:" && url.protocol !== "https:") return "must be an http or https URL";
  if (url.username || url.password) return "must not contain a user name or password";
  return undefined;
};

const isEvent = (event: string): boolean => (WEBHOOK_EVENTS as readonly string[]).includes(event);

export const webhookIssues = ({ url, events }: WebhookRequest): Issue[] => {
  const problem = urlProblem(url);
  return [
    ...(problem ? [{ path: "webhook.url", message: problem }] : []),
    ...events.flatMap((event, index) =>
      isEvent(event) ? [] : [{ path: `webhook.events.${index}`, message: `must be one of ${WEBHOOK_EVENTS.join(", ")}` }],
    ),
  ];
};

/** The stored form of a valid request: enabled, its events in canonical order. */
export const newWebhook = ({ url, events }: WebhookRequest): WebhookRecord => ({
  url,
  events: WEBHOOK_EVENTS.filter((event) => events.length === 0 || events.includes(event)),
  disabledAt: null,
  disabledReason: "",
});

export interface NewSecret {
  /** Shown once. */
  secret: string;
  record: WebhookSecretRecord;
}

/** A signing secret and its stored form. */
export const newWebhookSecret = (box: SecretBox, keyId: string, createdAt: Date): NewSecret => {
  const secret = generateWebhookSecret();
  return { secret, record: { sealed: box.seal(secret, keyId), createdAt } };
};

export interface WebhooksOptions {
  store: KeyStore;
  secretBox: SecretBox;
  changes: Changes;
  clock?: () => number;
}

const NOTHING: WebhookTarget = { url: "", secrets: [], events: [] };

export const createWebhooks = ({ store, secretBox, changes, clock = Date.now }: WebhooksOptions): Webhooks => ({
  set: async (userId, keyId, request) => {
    const issues = webhookIssues(request);
    if (issues.length > 0) throw invalidRequest(issues);
    const key = await store.findOwned(userId, keyId);
    if (!key) throw noSuchKey();
    requireWebhookGrant(key.capabilities);
    const { secret, record } = newWebhookSecret(secretBox, keyId, new Date(clock()));
    const changed = await store.setWebhook(userId, keyId, newWebhook(request), record);
    if (!changed) throw noSuchKey();
    await changes.announce({ type: "key", id: keyId });
    return { key: changed, secret };
  },

  remove: async (userId, keyId) => {
    const changed = await store.removeWebhook(userId, keyId);
    if (!changed) throw noSuchKey();
    await changes.announce({ type: "key", id: keyId });
    return changed;
  },

  target: async (keyId, userId) => {
    const key = await (userId === undefined ? store.find(keyId) : store.findOwned(userId, keyId));
    if (!key && userId !== undefined) throw noSuchKey();
    if (!key?.webhook || key.webhook.disabledAt) return NOTHING;
    const [newest, previous] = key.webhookSecrets;
    const overlaps = newest && newest.createdAt.getTime() + SECRET_OVERLAP_MS > clock();
    const signing = [newest, overlaps ? previous : undefined].filter((secret) => secret !== undefined);
    return { url: key.webhook.url, events: key.webhook.events, secrets: signing.map(({ sealed }) => secretBox.open(sealed, key._id)) };
  },

  disable: async (keyId, url, reason) => {
    const disabled = await store.disableWebhook(keyId, url, new Date(clock()), reason.slice(0, MAX_REASON_CHARS));
    if (disabled) await changes.announce({ type: "key", id: keyId });
  },
});
