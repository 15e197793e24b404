import { ERASURE_DAYS } from "@nodeloom/kernel";
import {
  ConfigError,
  connectRedis,
  createAccountKeys,
  createAddressRules,
  createEgressClient,
  defineService,
  erasureHandlers,
  grpcService,
  hostAndPort,
  listenVariable,
  openDatabase,
  runProcess,
  serveGrpc,
  variables,
} from "@nodeloom/platform";
import { accountErasure, addresses, erasure, identity, organizations, signIn } from "@nodeloom/proto";
import { z } from "zod";
import { addressHandlers } from "./server/addresses";
import { database } from "./database";
import { joinChanges } from "./changes";
import { createEraseAudited } from "./erasure/audited-store";
import { createEraseIdentity } from "./erasure/erase-store";
import { accountErasureHandlers } from "./server/erasure";
import { createIdentity } from "./identity";
import { loadLibrary } from "./oidc/provider";
import { oidcSettings, oidcVariables } from "./oidc/settings";
import { secretsKeys } from "./secrets/envelope";
import { KEY_ENVIRONMENT } from "./keys/key-value";
import { organizationHandlers } from "./server/organizations";
import { signInHandlers } from "./server/sign-in";
import { identityHandlers } from "./server/identity";
import { createStore } from "./store";

const MAX_ERASURE_DAYS = 365;

export const service = defineService({
  name: "identity",
  database,
  variables: {
    MONGODB_URI: variables.MONGODB_URI,
    MONGODB_DATABASE_PREFIX: variables.MONGODB_DATABASE_PREFIX,
    REDIS_URL: variables.REDIS_URL,
    REDIS_KEY_PREFIX: variables.REDIS_KEY_PREFIX,
    ...listenVariable("identity"),
    USER_EGRESS_ALLOW: variables.USER_EGRESS_ALLOW,
    API_KEY_PEPPER: z.string().min(32).describe("secret that hashes API keys and encrypts webhook secrets. Changing it revokes every key"),
    SECRETS_KEYS: secretsKeys().describe(
      "keys (64 hexadecimal digits each, comma separated) under which secrets such as the keys of providers are encrypted; the first encrypts, all decrypt; none can be kept without",
    ),
    ...oidcVariables,
    ACCOUNT_ERASURE_DAYS: z.coerce
      .number()
      .min(0)
      .max(MAX_ERASURE_DAYS)
      .default(ERASURE_DAYS)
      .describe("days before a deletion that an owner requested becomes final, for example 0.5"),
    NODELOOM_ENV: z.string().regex(KEY_ENVIRONMENT).default("live").describe("name of the environment, which is part of key values"),
    BOOTSTRAP_ADMIN_EMAIL: z.string().optional().describe("email address of an administrator; the account is created if it is missing"),
    BOOTSTRAP_ADMIN_PASSWORD: z.string().optional().describe("password of that administrator"),
  },
  start: async ({ config, logger }) => {
    const { BOOTSTRAP_ADMIN_EMAIL: adminEmail, BOOTSTRAP_ADMIN_PASSWORD: adminPassword } = config;
    if (!adminEmail !== !adminPassword) throw new ConfigError("set both BOOTSTRAP_ADMIN_EMAIL and BOOTSTRAP_ADMIN_PASSWORD, or neither");
    const connection = await openDatabase(database, config, logger);
    const publisher = connectRedis({ url: config.REDIS_URL, logger });
    const subscriber = connectRedis({ url: config.REDIS_URL, logger, subscriber: true });
    const changes = joinChanges({ publisher, subscriber, prefix: config.REDIS_KEY_PREFIX, logger });
    const store = createStore(connection);
    const redisKeys = createAccountKeys({ redis: publisher, keyPrefix: config.REDIS_KEY_PREFIX });
    const provider = oidcSettings(config);
    if (provider) await loadLibrary();
    // The issuer can be in a private network, because the operator configured it.
    const oidc = provider && { settings: provider, egress: createEgressClient({ ownServers: [hostAndPort(provider.issuer)] }) };
    const services = await createIdentity({
      store,
      changes,
      pepper: config.API_KEY_PEPPER,
      secretsKeys: config.SECRETS_KEYS,
      environment: config.NODELOOM_ENV,
      erasureDays: config.ACCOUNT_ERASURE_DAYS,
      oidc,
      addressProblem: createAddressRules({ allow: config.USER_EGRESS_ALLOW }).resolvedProblem,
      logger,
    });
    for (const [what, sealed] of [
      ["secrets", services.secrets],
      ["secondFactors", services.secondFactors],
    ] as const) {
      const { resealed, lost } = await sealed.reseal();
      if (resealed.length > 0) logger.info({ [what]: resealed }, "encrypted with the first of SECRETS_KEYS now");
      if (lost.length > 0) logger.warn({ [what]: lost }, "can't be read: SECRETS_KEYS does not have their key");
    }
    if (adminEmail && adminPassword) await services.bootstrap.ensureAdmin(adminEmail, adminPassword);
    return serveGrpc({
      service: grpcService(identity.IdentityServiceService, identityHandlers(services)),
      more: [
        grpcService(signIn.SignInServiceService, signInHandlers(services)),
        grpcService(addresses.AddressServiceService, addressHandlers(services)),
        grpcService(organizations.OrganizationsServiceService, organizationHandlers(services)),
        grpcService(accountErasure.AccountErasureServiceService, accountErasureHandlers(services.erasures)),
        grpcService(
          erasure.ErasureServiceService,
          erasureHandlers(createEraseIdentity(connection, store.organizations, redisKeys), { metadata: createEraseAudited(connection) }),
        ),
      ],
      config,
      listen: "IDENTITY_LISTEN",
      connection,
      logger,
      checks: { redis: () => publisher.status === "ready" },
      stop: async () => {
        await services.authentication.drain();
        await oidc?.egress.close();
        for (const redis of [publisher, subscriber]) redis.disconnect();
      },
    });
  },
});

if (require.main === module) void runProcess([service]);
