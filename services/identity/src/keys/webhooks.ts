import { randomUUID } from "node:crypto";
import { DomainError, END_EVENTS, invalidRequest, isLonger, WEBHOOK_EVENTS, wellFormed, type Issue } from "@nodeloom/kernel";
import type { Changes } from "../changes";
import type { Accounts } from "../organizations/accounts";
import { effectiveGrants, mayReceive, requireWebhookGrant } from "./grants";
import type { KeyStore, Ownership, WebhookSettings } from "./key-store";
import type { KeyRecord, WebhookRecord, WebhookSecretRecord } from "./records";
import { generateWebhookSecret, type SecretBox } from "./webhook-secrets";

const MAX_URL_CHARS = 2_048;
const MAX_REASON_CHARS = 500;
/** Time for which a replaced secret still signs. */
export const SECRET_OVERLAP_MS = 24 * 60 * 60 * 1_000;
/** If no delivery succeeds for this time, the next failed delivery disables the webhook. */
export const FAILING_MS = 5 * 24 * 60 * 60 * 1_000;

export interface WebhookRequest {
  url: string;
  /** Events of the webhook. Empty means the ends of runs. */
  events: string[];
}

/** The delivery URL, and the current signing secrets with the newest first. */
export interface WebhookTarget {
  /** The URL, or empty if nothing must be delivered. */
  url: string;
  secrets: string[];
  events: string[];
  /** True if a webhook exists but is disabled. */
  disabled: boolean;
  /** Identifies these settings. Callers return it in their reports. */
  revision: string;
}

export interface DeliveryReport extends WebhookSettings {
  at: Date;
  delivered: boolean;
  /** True if no retry follows. */
  final: boolean;
}

export interface Webhooks {
  /** Sets or replaces a key's webhook. It is enabled and has a new secret. @throws CAPABILITY_DENIED if the key can't receive webhooks */
  set(of: Ownership, keyId: string, request: WebhookRequest): Promise<{ key: KeyRecord; secret: string }>;
  /** Removes the webhook. Idempotent. */
  remove(of: Ownership, keyId: string): Promise<KeyRecord>;
  /**
   * Returns an empty target if the key has no webhook, or if its grants or its owner's tier don't allow one. @throws NOT_FOUND if `of` is
   * set and the key belongs to another owner
   */
  target(keyId: string, of?: Ownership): Promise<WebhookTarget>;
  /**
   * Disables a webhook whose URL no longer exists, unless its settings have changed.
   * @returns true if the webhook has these settings and is disabled after the call
   */
  disable(settings: WebhookSettings, reason: string): Promise<boolean>;
  /**
   * Records a delivery attempt. Idempotent. After five days without a success, the next failed delivery disables the webhook.
   * @returns true if the webhook has these settings and is disabled after the call
   */
  report(report: DeliveryReport): Promise<boolean>;
}

export const noSuchKey = (): DomainError => new DomainError("not_found", "NOT_FOUND", "no such key");

export const urlProblem = (text: string): string | undefined => {
  if (isLonger(text, MAX_URL_CHARS)) return `must have at most ${MAX_URL_CHARS} characters`;
  if (!URL.canParse(text)) return "must be a URL";
  const url = new URL(text);
  if (url.protocol !== "http:" && url.protocol !== "https:") return "must be an http or https URL";
  if (url.username || url.password) return "must not contain a user name or password";
  return undefined;
};

/** Returns the reason why a URL is rejected, or undefined. Deliveries apply the same rules. */
export type AddressProblem = (url: string) => Promise<string | undefined>;

/**
 * Problems of a webhook's settings, including URLs with private addresses. Deliveries resolve the host again.
 * @param place prefix of issue paths; empty, or ending with a dot
 * @param allowedEvents events that the webhook can name
 */
export const webhookIssues = async (
  request: WebhookRequest,
  addressProblem: AddressProblem,
  place: "" | "webhook." = "",
  allowedEvents: readonly string[] = WEBHOOK_EVENTS,
): Promise<Issue[]> => {
  const issues = settingsIssues(request, place, allowedEvents);
  if (issues.length > 0) return issues;
  const problem = await addressProblem(request.url);
  return problem ? [{ path: `${place}url`, message: problem }] : [];
};

const settingsIssues = ({ url, events }: WebhookRequest, place: "" | "webhook.", allowedEvents: readonly string[]): Issue[] => {
  const problem = urlProblem(url);
  return [
    ...(problem ? [{ path: `${place}url`, message: problem }] : []),
    ...events.flatMap((event, index) =>
      allowedEvents.includes(event) ? [] : [{ path: `${place}events.${index}`, message: `must be one of ${allowedEvents.join(", ")}` }],
    ),
  ];
};

/** Converts a valid request to its stored form: enabled, with events in canonical order. */
export const newWebhook = ({ url, events }: WebhookRequest): WebhookRecord => ({
  url,
  events: WEBHOOK_EVENTS.filter((event) => (events.length === 0 ? (END_EVENTS as readonly string[]) : events).includes(event)),
  disabledAt: null,
  disabledReason: "",
  revision: randomUUID(),
  failingSince: null,
});

export interface NewSecret {
  /** The secret is shown only once. */
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
  accounts: Pick<Accounts, "holderOf">;
  secretBox: SecretBox;
  changes: Changes;
  addressProblem: AddressProblem;
  clock?: () => number;
}

const NOTHING: WebhookTarget = { url: "", secrets: [], events: [], disabled: false, revision: "" };

/** Current signing secrets, the newest first. A replaced secret stays for `SECRET_OVERLAP_MS` after its direct successor was created. */
export const signing = (secrets: readonly WebhookSecretRecord[], now: number): WebhookSecretRecord[] =>
  secrets.filter((_secret, index) => {
    const successor = secrets[index - 1];
    return !successor || successor.createdAt.getTime() + SECRET_OVERLAP_MS > now;
  });

export const createWebhooks = ({ store, accounts, secretBox, changes, addressProblem, clock = Date.now }: WebhooksOptions): Webhooks => {
  const receives = async (key: KeyRecord): Promise<boolean> => {
    const holder = await accounts.holderOf(key);
    return holder !== null && mayReceive(effectiveGrants(key.capabilities, holder));
  };

  /** Returns the webhook if its settings are unchanged. */
  const current = async ({ keyId, url, revision }: WebhookSettings): Promise<WebhookRecord | null> => {
    const webhook = (await store.find(keyId))?.webhook;
    return webhook?.url === url && webhook.revision === revision ? webhook : null;
  };

  const disable = async (settings: WebhookSettings, reason: string, failingSince?: Date): Promise<boolean> => {
    if (await store.disableWebhook(settings, new Date(clock()), wellFormed(reason.slice(0, MAX_REASON_CHARS)), failingSince)) {
      await changes.announce({ type: "key", id: settings.keyId });
      return true;
    }
    return Boolean((await current(settings))?.disabledAt);
  };

  return {
    set: async (of, keyId, request) => {
      const issues = await webhookIssues(request, addressProblem);
      if (issues.length > 0) throw invalidRequest(issues);
      const key = await store.findOwned(of, keyId);
      if (!key) throw noSuchKey();
      requireWebhookGrant(key.capabilities);
      const { secret, record } = newWebhookSecret(secretBox, keyId, new Date(clock()));
      const changed = await store.setWebhook(of, keyId, newWebhook(request), record);
      if (!changed) throw noSuchKey();
      await changes.announce({ type: "key", id: keyId });
      return { key: changed, secret };
    },

    remove: async (of, keyId) => {
      const changed = await store.removeWebhook(of, keyId);
      if (!changed) throw noSuchKey();
      await changes.announce({ type: "key", id: keyId });
      return changed;
    },

    target: async (keyId, of) => {
      const key = await (of ? store.findOwned(of, keyId) : store.find(keyId));
      if (!key && of) throw noSuchKey();
      if (!key?.webhook || !(await receives(key))) return NOTHING;
      if (key.webhook.disabledAt) return { ...NOTHING, disabled: true };
      const { url, events, revision } = key.webhook;
      const secrets = signing(key.webhookSecrets, clock()).map(({ sealed }) => secretBox.open(sealed, key._id));
      return { url, events, secrets, disabled: false, revision };
    },

    disable: (settings, reason) => disable(settings, reason),

    report: async ({ at, delivered, final, ...settings }) => {
      if (delivered) {
        await store.noteSuccess(settings, at);
        return false;
      }
      await store.noteFailure(settings, at);
      const webhook = await current(settings);
      if (!webhook) return false;
      const { failingSince, disabledAt } = webhook;
      if (disabledAt) return true;
      if (!final || !failingSince || at.getTime() - failingSince.getTime() < FAILING_MS) return false;
      return disable(settings, `every delivery has failed since ${failingSince.toISOString()}`, failingSince);
    },
  };
};
