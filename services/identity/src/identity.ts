import { ERASURE_DAYS } from "@nodeloom/kernel";
import type { Logger } from "@nodeloom/platform";
import { createAddresses } from "./addresses/addresses";
import { createListApprovers } from "./addresses/approvers";
import { createAudit } from "./audit/audit";
import { createSignInNotes } from "./audit/sign-in-notes";
import { createAuthentication } from "./keys/authentication";
import type { Changes } from "./changes";
import { createErasures } from "./erasure/erasures";
import { createSoleOwnerships } from "./erasure/sole-ownerships";
import { createKeyRequests } from "./keys/key-requests";
import { createKeys } from "./keys/keys";
import { createLoginThrottle } from "./sessions/login-throttle";
import { createPasswords } from "./users/passwords";
import { createSecretBox } from "./keys/webhook-secrets";
import type { Identity } from "./server/identity";
import type { Store } from "./store";
import { createTiers } from "./tiers/tiers";
import { createPasswordChanges } from "./sessions/password-changes";
import { createCodeMatching } from "./second-factor/matching";
import { createPendingSignIns } from "./sign-in/pending-sign-ins";
import { wireOidc, type OidcConfigured } from "./oidc/wiring";
import { createReauthentication } from "./sessions/reauthentication";
import { createSecondFactors } from "./second-factor/second-factors";
import { createEnvelope } from "./secrets/envelope";
import { createSecrets } from "./secrets/secrets";
import { createSignIn } from "./sign-in/sign-in";
import { createBootstrap } from "./users/bootstrap";
import { createEarlierAccess } from "./organizations/earlier-access";
import { createRunStops } from "./users/run-stops";
import { createAccounts } from "./organizations/accounts";
import { createOrganizationErasures } from "./erasure/organization-erasures";
import { createInvitations } from "./organizations/invitations";
import { createOrganizations } from "./organizations/organizations";
import { createServiceAccounts } from "./keys/service-accounts";
import { createUsers } from "./users/users";
import { createEndpoints } from "./keys/endpoints";
import { createRunSecrets } from "./keys/run-secrets";
import { createWebhooks, urlProblem, type AddressProblem } from "./keys/webhooks";

const DAY_MS = 86_400_000;

export interface IdentityOptions {
  store: Store;
  changes: Changes;
  pepper: string;
  /** Encryption keys for secrets, the newest first. Without a key, secrets are disabled. */
  secretsKeys: readonly string[];
  /** The part `<env>` of new key values. */
  environment: string;
  addressProblem: AddressProblem;
  logger: Logger;
  oidc?: OidcConfigured | undefined;
  /** Days in which an erasure can be cancelled. */
  erasureDays?: number;
  clock?: () => number;
}

/** Connects the service's parts to one store and one channel of changes. */
export const createIdentity = async ({
  store,
  changes,
  pepper,
  secretsKeys,
  environment,
  addressProblem,
  logger,
  oidc,
  erasureDays = ERASURE_DAYS,
  clock = Date.now,
}: IdentityOptions): Promise<Identity> => {
  const secretBox = createSecretBox(pepper);
  const tiers = createTiers({ store: store.tiers, users: store.users, changes });
  const counting = { attempts: store.attempts, knownAddresses: store.knownAddresses, pepper, clock };
  const throttle = createLoginThrottle(counting);
  const endpoints = createEndpoints({ store: store.endpoints, secretBox, changes, addressProblem });
  const audit = createAudit(store.audit, endpoints.receivesAudit);
  const notes = createSignInNotes(audit, logger, clock);
  const throttles = { passwords: throttle, codes: createLoginThrottle({ ...counting, guessed: "codes" }) };
  const envelope = createEnvelope(secretsKeys);
  const passwords = await createPasswords();
  const runStops = createRunStops({ store: store.runStops, users: store.users, organizations: store.organizations });
  const users = createUsers({ store: store.users, tiers, runStops, removeEndedKeys: store.keys.removeEnded, changes });
  const accounts = createAccounts({ users, store: store.organizations, serviceAccounts: store.serviceAccounts });
  const ofOrganizations = { store: store.organizations, users, accounts, changes };
  const matching = createCodeMatching({ store: store.secondFactors, envelope, pepper, clock });
  const ofUsers = { users: store.users, tiers, matching, pepper, clock };
  const pendingSignIns = createPendingSignIns({ ...ofUsers, store: store.pendingSignIns, throttles, notes });
  const reauthentication = createReauthentication({ users: store.users, passwords, throttle });
  const earlierAccess = createEarlierAccess({
    ...{ users: store.users, organizations: store.organizations, keys: store.keys, unlink: store.oidc.unlink, changes },
    serviceAccounts: store.serviceAccounts,
  });
  const passwordChanges = createPasswordChanges({
    store: store.users,
    tiers,
    passwords,
    throttle,
    changes,
    earlierAccess,
    pepper,
    clock,
  });
  const erasing = { runStops, changes, waitMs: erasureDays * DAY_MS, clock };
  const organizationErasures = createOrganizationErasures({
    ...erasing,
    ...{ marks: store.organizationErasures, store: store.organizations, accounts },
  });
  const onTouchFailed = (error: unknown): void => logger.warn({ err: error }, "the use of a key was not recorded");
  return {
    users,
    accounts,
    earlierAccess,
    organizations: createOrganizations({ ...ofOrganizations, removeKeysOf: store.keys.removeMadeBy }),
    serviceAccounts: createServiceAccounts({
      ...{ store: store.serviceAccounts, organizations: store.organizations, accounts, keys: store.keys, changes, clock },
    }),
    invitations: createInvitations({ ...ofOrganizations, pepper }),
    bootstrap: createBootstrap({ store: store.users, unlink: store.oidc.unlink, passwords, changes }),
    signIn: createSignIn({
      store: store.users,
      tiers,
      passwords,
      throttle,
      pendingSignIns,
      notes,
    }),
    pendingSignIns,
    oidc: wireOidc({
      configured: oidc,
      store,
      users,
      tiers,
      earlierAccess,
      changes,
      reauthentication,
      pendingSignIns,
      pepper,
      logger,
      clock,
    }),
    secondFactors: createSecondFactors({
      ...ofUsers,
      store: store.secondFactors,
      reauthentication,
      throttle: throttles.codes,
      envelope,
      changes,
    }),
    passwordChanges,
    addresses: createAddresses({
      ...{ users: store.users, store: store.addresses, organizations: store.organizations, passwordChanges, pepper, clock },
    }),
    listApprovers: createListApprovers({ users: store.users, organizations: store.organizations }),
    runStops,
    tiers,
    keys: createKeys({ store: store.keys, users, accounts, changes, secretBox, addressProblem, pepper, environment }),
    keyRequests: createKeyRequests({ store: store.keyRequests, keys: store.keys }),
    webhooks: createWebhooks({ store: store.keys, accounts, secretBox, changes, addressProblem }),
    runSecrets: createRunSecrets({ store: store.runSecrets, secretBox, clock }),
    endpoints,
    webhookProblem: async (url) => urlProblem(url) ?? addressProblem(url),
    secrets: createSecrets({ store: store.secrets, envelope, addressProblem }),
    audit,
    erasures: createErasures({
      ...{ ...erasing, store: store.erasures, organizations: organizationErasures, users: store.users, tiers, reauthentication, pepper },
      soleOwnerships: createSoleOwnerships(store.organizations),
    }),
    authentication: createAuthentication({ store: store.keys, accounts, changes, pepper, onTouchFailed }),
  };
};
