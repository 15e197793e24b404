import type { EgressClient, Logger } from "@nodeloom/platform";
import type { Changes } from "../changes";
import type { PendingSignIns } from "../sign-in/pending-sign-ins";
import type { Reauthentication } from "../sessions/reauthentication";
import type { UserStore } from "../users/user-store";
import type { OidcStore } from "./oidc-store";
import type { Tiers } from "../tiers/tiers";
import type { EarlierAccess } from "../organizations/earlier-access";
import type { Users } from "../users/users";
import { createOidcAccounts } from "./accounts";
import { createOidc, type Oidc, type OidcOptions } from "./oidc";
import { createProvider } from "./provider";
import type { OidcSettings } from "./settings";

/** The provider's settings and its HTTP client. */
export interface OidcConfigured {
  settings: OidcSettings;
  egress: EgressClient;
}

export interface OidcParts {
  configured: OidcConfigured | undefined;
  store: { oidc: OidcStore; users: UserStore };
  users: Users;
  tiers: Tiers;
  changes: Changes;
  earlierAccess: Pick<EarlierAccess, "endOfRegistrant">;
  reauthentication: Reauthentication;
  pendingSignIns: PendingSignIns;
  pepper: string;
  logger: Logger;
  clock: () => number;
}

const providerOf = ({ settings, egress }: OidcConfigured, parts: OidcParts): OidcOptions["provider"] => {
  const { store, users, tiers, earlierAccess, changes, logger, clock } = parts;
  return {
    name: settings.name,
    protocol: createProvider({ settings, egress, logger, clock }),
    accounts: createOidcAccounts({
      settings,
      store: store.oidc,
      users: store.users,
      updates: users,
      tiers,
      endEarlierAccess: earlierAccess.endOfRegistrant,
      changes,
      logger,
      clock,
    }),
  };
};

export const wireOidc = (parts: OidcParts): Oidc => {
  const { configured, store, changes, reauthentication, pendingSignIns, pepper, clock } = parts;
  return createOidc({
    provider: configured && providerOf(configured, parts),
    store: store.oidc,
    users: store.users,
    endSessions: async (userId) => {
      await store.users.endSessions(userId);
      await changes.announce({ type: "user", id: userId });
    },
    reauthentication,
    pendingSignIns,
    pepper,
    clock,
  });
};
