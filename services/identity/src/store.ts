import { NOTICES } from "@nodeloom/kernel";
import { Schema, type Connection, type Model } from "mongoose";
import { createAddressStore, type AddressStore } from "./addresses/address-store";
import { createAttemptsStore, type AttemptsStore } from "./sessions/attempts-store";
import { createAuditStore, type AuditStore } from "./audit/audit-store";
import { createEndpointModel, createEndpointStore, type EndpointStore } from "./keys/endpoint-store";
import { createRunSecretStore, type RunSecretStore } from "./keys/run-secret-store";
import { createDeletedKeyModel, createDeletedKeyStore } from "./keys/deleted-key-store";
import { createKeyRequestModel, createKeyRequestStore, type KeyRequestStore } from "./keys/key-request-store";
import { createKeyStore, type KeyStore } from "./keys/key-store";
import type { KeyRecord, RunSecretRecord } from "./keys/records";
import type {
  AttemptsRecord,
  AuditRecord,
  Business,
  KnownAddressRecord,
  PendingSignInRecord,
  RunStopRecord,
  SecondFactorRecord,
  SecretRecord,
  TierRecord,
  UserRecord,
} from "./records";
import { date, number, optionalDate, OPTIONS, optionalText, text } from "./schema-fields";
import { createErasureMarks, createErasureStore, type ErasureMarks, type ErasureStore } from "./erasure/erasure-store";
import { createKnownAddressStore, type KnownAddressStore } from "./sessions/known-address-store";
import { createOidcStore, type OidcStore } from "./oidc/oidc-store";
import { createOidcModels } from "./oidc/schema";
import { createOrganizationStore, type OrganizationStore } from "./organizations/organization-store";
import { createServiceAccountStore, type ServiceAccountStore } from "./organizations/service-account-store";
import { createOrganizationModel } from "./organizations/schema";
import { createPendingSignInStore, type PendingSignInStore } from "./sign-in/pending-sign-in-store";
import { createSecondFactorStore, type SecondFactorStore } from "./second-factor/second-factor-store";
import { createSecretStore, type SecretStore } from "./secrets/secret-store";
import { createTierStore, type TierStore } from "./tiers/tier-store";
import { createRunStopStore, type RunStopStore } from "./users/run-stop-store";
import { erasureSchema, stopSchema } from "./users/schema";
import { keySchema, runSecretSchema } from "./keys/schema";
import { attemptsSchema, knownAddressSchema, pendingSignInSchema } from "./sessions/schema";
import { createUserStore, type UserStore } from "./users/user-store";

const userSchema = new Schema<UserRecord>(
  {
    _id: text,
    email: text,
    passwordHash: text,
    role: text,
    tier: text,
    approved: { type: Boolean, required: true },
    business: { type: new Schema<Business>({ name: text, verified: { type: Boolean, required: true } }, OPTIONS), default: null },
    suspended: { type: Boolean, required: true },
    sessionEpoch: number,
    keyEpoch: number,
    revision: number,
    stop: { type: stopSchema, default: null },
    secondFactor: {
      type: new Schema<SecondFactorRecord>(
        {
          id: text,
          keyId: text,
          sealed: text,
          confirmedAt: optionalDate,
          lastStep: number,
          recoveryCodes: { type: [String], required: true },
        },
        OPTIONS,
      ),
      default: null,
    },
    passwordReset: {
      type: new Schema({ hash: text, expiresAt: date, mailed: { type: Boolean, default: false } }, OPTIONS),
      default: null,
    },
    verification: { type: new Schema({ hash: text, expiresAt: date }, OPTIONS), default: null },
    mutedNotices: { type: new Schema(Object.fromEntries(NOTICES.map((notice) => [notice, Boolean])), OPTIONS), default: {} },
    bootstrapHash: { type: String, default: null },
    emailVerifiedAt: optionalDate,
    accessFrom: optionalDate,
    erasure: { type: erasureSchema, default: null },
    endpointEvents: { type: [String], default: undefined },
    endpointRevision: Number,
    createdAt: date,
  },
  OPTIONS,
)
  // Allows one account per address, and finds the account of a sign-in.
  .index({ email: 1 }, { unique: true })
  // Order of the admin list.
  .index({ createdAt: -1, _id: -1 })
  // Finds users of a tier before the tier is deleted.
  .index({ tier: 1 })
  // Finds due erasures.
  .index({ "erasure.erasesAt": 1 }, { sparse: true });

const tierSchema = new Schema<TierRecord>(
  {
    _id: text,
    base: text,
    rateLimitPerMinute: { type: Number, default: null },
    markupPermille: number,
    monthlyMillicredits: number,
    concurrency: number,
    caps: { type: Schema.Types.Mixed },
    deletingAt: optionalDate,
    rolloutRevision: { type: String, default: null },
    rolloutCursor: { type: String, default: "" },
  },
  OPTIONS,
);

/** Read without an index, because there are few rows and usually none. */
const runStopSchema = new Schema<RunStopRecord>({ _id: text, userId: text, at: date }, OPTIONS);

const auditSchema = new Schema<AuditRecord>(
  {
    _id: text,
    actorId: text,
    keyId: optionalText,
    action: text,
    target: text,
    changeJson: optionalText,
    beforeJson: optionalText,
    afterJson: optionalText,
    outcome: text,
    errorCode: optionalText,
    requestId: optionalText,
    at: date,
    ownerId: { type: String },
    ip: { type: String },
    unannounced: { type: Boolean },
  },
  OPTIONS,
)
  // Finds rows with pending messages.
  .index({ unannounced: 1, at: 1, _id: 1 }, { partialFilterExpression: { unannounced: true } })
  // Finds expired rows.
  .index({ at: -1, _id: -1 })
  // Order of the owner's list.
  .index({ ownerId: 1, at: -1, _id: -1 });

const secretSchema = new Schema<SecretRecord>(
  {
    _id: text,
    owner: text,
    name: text,
    keyId: text,
    sealed: text,
    hint: optionalText,
    hosts: { type: [String], required: true },
    workflows: { type: [String], default: undefined },
    revision: text,
    setBy: text,
    setAt: date,
    createdAt: { type: Date },
  },
  OPTIONS,
)
  // Finds an owner's secrets by name.
  .index({ owner: 1, name: 1 }, { unique: true });

export interface Store {
  users: UserStore;
  addresses: AddressStore;
  tiers: TierStore;
  keys: KeyStore;
  keyRequests: KeyRequestStore;
  attempts: AttemptsStore;
  knownAddresses: KnownAddressStore;
  secondFactors: SecondFactorStore;
  pendingSignIns: PendingSignInStore;
  oidc: OidcStore;
  runStops: RunStopStore;
  runSecrets: RunSecretStore;
  endpoints: EndpointStore;
  secrets: SecretStore;
  audit: AuditStore;
  organizations: OrganizationStore;
  serviceAccounts: ServiceAccountStore;
  erasures: ErasureStore;
  organizationErasures: ErasureMarks;
}

export const createStore = (connection: Connection): Store => {
  const users: Model<UserRecord> = connection.model<UserRecord>("User", userSchema, "users");
  const tiers: Model<TierRecord> = connection.model<TierRecord>("Tier", tierSchema, "tiers");
  const keys: Model<KeyRecord> = connection.model<KeyRecord>("Key", keySchema, "keys");
  const attempts: Model<AttemptsRecord> = connection.model<AttemptsRecord>("Attempts", attemptsSchema, "attempts");
  const knownAddresses = connection.model<KnownAddressRecord>("KnownAddress", knownAddressSchema, "known-addresses");
  const pendingSignIns = connection.model<PendingSignInRecord>("PendingSignIn", pendingSignInSchema, "pending-sign-ins");
  const runStops = connection.model<RunStopRecord>("RunStop", runStopSchema, "run-stops");
  const secrets = connection.model<SecretRecord>("Secret", secretSchema, "secrets");
  const organizations = createOrganizationModel(connection);
  const audit: Model<AuditRecord> = connection.model<AuditRecord>("Audit", auditSchema, "audit");
  return {
    users: createUserStore(users),
    addresses: createAddressStore(users),
    tiers: createTierStore(tiers),
    keys: createKeyStore(keys, createDeletedKeyStore(createDeletedKeyModel(connection))),
    keyRequests: createKeyRequestStore(createKeyRequestModel(connection), keys),
    attempts: createAttemptsStore(attempts),
    knownAddresses: createKnownAddressStore(knownAddresses),
    secondFactors: createSecondFactorStore(users),
    pendingSignIns: createPendingSignInStore(pendingSignIns),
    oidc: createOidcStore({ users, ...createOidcModels(connection) }),
    runStops: createRunStopStore(runStops),
    runSecrets: createRunSecretStore(connection.model<RunSecretRecord>("RunSecret", runSecretSchema, "run-secrets")),
    endpoints: createEndpointStore({ endpoints: createEndpointModel(connection), users, organizations }),
    secrets: createSecretStore(secrets),
    audit: createAuditStore(audit),
    organizations: createOrganizationStore(organizations),
    serviceAccounts: createServiceAccountStore(connection),
    erasures: createErasureStore(users),
    organizationErasures: createErasureMarks(organizations),
  };
};
