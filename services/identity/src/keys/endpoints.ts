/** Webhook endpoints of an account. They receive events of all its runs. */
import { randomUUID } from "node:crypto";
import {
  AUDIT_EVENT,
  DomainError,
  ENDPOINT_EVENTS,
  invalidRequest,
  isLonger,
  LIMITS,
  WEBHOOK_ENDPOINTS,
  wellFormed,
} from "@nodeloom/kernel";
import type { Changes } from "../changes";
import type { EndpointRecord, EndpointsRecord } from "./records";
import type { EndpointChange, EndpointId, EndpointSettings, EndpointStore } from "./endpoint-store";
import type { SecretBox } from "./webhook-secrets";
import { FAILING_MS, newWebhookSecret, signing, webhookIssues, type AddressProblem, type WebhookTarget } from "./webhooks";

const MAX_REASON_CHARS = 500;

export interface EndpointEdit {
  url?: string | undefined;
  events?: string[] | undefined;
  description?: string | undefined;
  /** False enables a disabled endpoint. */
  disabled?: boolean | undefined;
}

export interface EndpointReport extends EndpointSettings {
  at: Date;
  delivered: boolean;
  /** True if no retry follows. */
  final: boolean;
}

export interface WithSecret {
  endpoint: EndpointRecord;
  /** The secret is shown only once. */
  secret: string;
}

/** Whether an owner makes the change, in a session. */
export type ByOwner = boolean;

/**
 * Each method throws NOT_FOUND if the owner has no such endpoint. Changes of an endpoint with the event `audit.row` throw CAPABILITY_DENIED
 * unless an owner makes them.
 */
export interface Endpoints {
  list(ownerId: string): Promise<EndpointRecord[]>;
  /** @throws INVALID_REQUEST, PRECONDITION_FAILED at the limit */
  create(ownerId: string, endpoint: Required<Pick<EndpointEdit, "url" | "events" | "description">>, byOwner: ByOwner): Promise<WithSecret>;
  /** True if an enabled endpoint gets new rows of the owner's audit log. */
  receivesAudit(ownerId: string): Promise<boolean>;
  /** @throws INVALID_REQUEST */
  edit(of: EndpointId, edit: EndpointEdit, byOwner: ByOwner): Promise<EndpointRecord>;
  /** Creates a new secret. The previous one also signs for one day. */
  rotate(of: EndpointId, byOwner: ByOwner): Promise<WithSecret>;
  remove(of: EndpointId, byOwner: ByOwner): Promise<void>;
  /** Returns an empty target for a removed endpoint. */
  target(of: EndpointId): Promise<WebhookTarget>;
  /** @returns true if the endpoint has these settings and is disabled after the call */
  disable(settings: EndpointSettings, reason: string): Promise<boolean>;
  /** Records a delivery attempt. After five days without a success, the next failed delivery disables the endpoint. */
  report(report: EndpointReport): Promise<boolean>;
}

export interface EndpointsOptions {
  store: EndpointStore;
  secretBox: SecretBox;
  changes: Changes;
  addressProblem: AddressProblem;
  clock?: () => number;
}

const noSuchEndpoint = (): DomainError => new DomainError("not_found", "NOT_FOUND", "webhook endpoint not found");
/** The log shows what members do, so members can't send it elsewhere. */
const requireOwner = ({ events }: Pick<EndpointRecord, "events">, byOwner: ByOwner): void => {
  if (byOwner || !events.includes(AUDIT_EVENT)) return;
  const message = `only an owner can subscribe an endpoint to ${AUDIT_EVENT} or change such an endpoint, in a session`;
  throw new DomainError("forbidden", "CAPABILITY_DENIED", message, { required: "role:owner", requiredRole: "owner" });
};
const atLimit = (): DomainError =>
  new DomainError("precondition", "PRECONDITION_FAILED", `at most ${WEBHOOK_ENDPOINTS} webhook endpoints: delete one first`);

const NOTHING: WebhookTarget = { url: "", secrets: [], events: [], disabled: false, revision: "" };
const ENABLED = { disabledAt: null, disabledReason: "", failingSince: null } as const;

const eventsOf = ({ endpoints }: EndpointsRecord): string[] => {
  const subscribedEvents = new Set(endpoints.filter(({ disabledAt }) => disabledAt === null).flatMap(({ events }) => events));
  return ENDPOINT_EVENTS.filter((event) => subscribedEvents.has(event));
};
const oneOf = (record: EndpointsRecord | null, id: string): EndpointRecord => {
  const foundEndpoint = record?.endpoints.find((endpoint) => endpoint.id === id);
  if (!foundEndpoint) throw noSuchEndpoint();
  return foundEndpoint;
};
/** Events in canonical order, without duplicates. */
const sorted = (events: readonly string[]): string[] => ENDPOINT_EVENTS.filter((event) => events.includes(event));

export const createEndpoints = ({ store, secretBox, changes, addressProblem, clock = Date.now }: EndpointsOptions): Endpoints => {
  const bound = ({ ownerId, id }: EndpointId): string => `endpoint:${ownerId}:${id}`;

  const noted = async (record: EndpointsRecord): Promise<EndpointsRecord> => {
    await store.noteEvents(record, eventsOf(record));
    await changes.announce({ type: "user", id: record._id });
    await changes.announce({ type: "organization", id: record._id });
    return record;
  };

  const check = async ({ url, events, description }: Required<Pick<EndpointEdit, "url" | "events" | "description">>): Promise<void> => {
    const issues = await webhookIssues({ url, events }, addressProblem, "", ENDPOINT_EVENTS);
    if (events.length === 0) issues.push({ path: "events", message: "must name at least one event" });
    if (isLonger(description, LIMITS.nameChars))
      issues.push({ path: "description", message: `must have at most ${LIMITS.nameChars} characters` });
    if (issues.length > 0) throw invalidRequest(issues);
  };

  const change = async (of: EndpointId, endpointChange: EndpointChange): Promise<EndpointRecord> => {
    const record = await store.change(of, endpointChange);
    if (!record) throw noSuchEndpoint();
    return oneOf(await noted(record), of.id);
  };

  const isDisabled = async ({ ownerId, id, url, revision }: EndpointSettings): Promise<boolean> => {
    const endpoint = (await store.find(ownerId))?.endpoints.find((one) => one.id === id);
    return endpoint?.url === url && endpoint.revision === revision && endpoint.disabledAt !== null;
  };

  const disable = async ({ ownerId, id, url, revision }: EndpointSettings, reason: string, failingSince?: Date): Promise<boolean> => {
    const disabled = { disabledAt: new Date(clock()), disabledReason: wellFormed(reason.slice(0, MAX_REASON_CHARS)) };
    const only = { url, revision, disabledAt: null, ...(failingSince ? { failingSince } : {}) };
    const record = await store.change({ ownerId, id }, disabled, only);
    if (record) await noted(record);
    return record !== null || (await isDisabled({ ownerId, id, url, revision }));
  };

  return {
    list: async (ownerId) => {
      const record = await store.find(ownerId);
      // Completes the record of a change whose process stopped too early.
      if (record && !(await store.isNoted(record))) await store.noteEvents(record, eventsOf(record));
      return record?.endpoints ?? [];
    },

    receivesAudit: async (ownerId) => {
      const record = await store.find(ownerId);
      return record?.endpoints.some(({ disabledAt, events }) => disabledAt === null && events.includes(AUDIT_EVENT)) ?? false;
    },

    create: async (ownerId, newEndpoint, byOwner) => {
      requireOwner(newEndpoint, byOwner);
      await check(newEndpoint);
      const [id, now] = [randomUUID(), new Date(clock())];
      const { secret, record: sealed } = newWebhookSecret(secretBox, bound({ ownerId, id }), now);
      const { url, events, description } = newEndpoint;
      const endpoint: EndpointRecord = {
        ...{ id, url, events: sorted(events), description, ...ENABLED, revision: randomUUID() },
        ...{ secrets: [sealed], createdAt: now, updatedAt: now },
      };
      const record = await store.add(ownerId, endpoint, WEBHOOK_ENDPOINTS);
      if (!record) throw atLimit();
      await noted(record);
      return { endpoint, secret };
    },

    edit: async (of, { disabled, ...edit }, byOwner) => {
      const before = oneOf(await store.find(of.ownerId), of.id);
      const { url = before.url, events = before.events, description = before.description } = edit;
      for (const one of [before, { events }]) requireOwner(one, byOwner);
      await check({ url, events, description });
      const now = new Date(clock());
      const isMoved = url !== before.url;
      return change(of, {
        ...{ url, events: sorted(events), description, updatedAt: now },
        ...(isMoved || disabled !== undefined ? { revision: randomUUID() } : {}),
        ...(disabled === true ? { disabledAt: now, disabledReason: "disabled by its owner", failingSince: null } : {}),
        ...(disabled === false || (isMoved && disabled === undefined) ? ENABLED : {}),
      });
    },

    rotate: async (of, byOwner) => {
      requireOwner(oneOf(await store.find(of.ownerId), of.id), byOwner);
      const { secret, record: sealed } = newWebhookSecret(secretBox, bound(of), new Date(clock()));
      return { endpoint: oneOf(await store.addSecret(of, sealed), of.id), secret };
    },

    remove: async (of, byOwner) => {
      requireOwner(oneOf(await store.find(of.ownerId), of.id), byOwner);
      const record = await store.remove(of);
      if (!record) throw noSuchEndpoint();
      await noted(record);
    },

    target: async (of) => {
      const endpoint = (await store.find(of.ownerId))?.endpoints.find(({ id }) => id === of.id);
      if (!endpoint) return NOTHING;
      if (endpoint.disabledAt) return { ...NOTHING, disabled: true };
      const { url, events, revision } = endpoint;
      const secrets = signing(endpoint.secrets, clock()).map(({ sealed }) => secretBox.open(sealed, bound(of)));
      return { url, events, secrets, disabled: false, revision };
    },

    disable: (settings, reason) => disable(settings, reason),

    report: async ({ at, delivered, final, ...settings }) => {
      const { ownerId, id, url, revision } = settings;
      const endpoint = (await store.find(ownerId))?.endpoints.find((one) => one.id === id);
      if (endpoint?.url !== url || endpoint.revision !== revision) return false;
      if (endpoint.disabledAt) return true;
      const { failingSince } = endpoint;
      if (delivered) {
        // A success from before the failures doesn't end the series.
        if (failingSince && failingSince <= at)
          await store.change({ ownerId, id }, { failingSince: null }, { url, revision, failingSince });
        return false;
      }
      if (!failingSince) await store.change({ ownerId, id }, { failingSince: at }, { url, revision, failingSince: null });
      if (!final || !failingSince || at.getTime() - failingSince.getTime() < FAILING_MS) return false;
      return disable(settings, `every delivery has failed since ${failingSince.toISOString()}`, failingSince);
    },
  };
};
