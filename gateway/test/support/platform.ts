import { randomBytes, randomUUID } from "node:crypto";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { service as billing } from "@nodeloom/billing";
import { service as gateway } from "@nodeloom/gateway";
import { service as identity } from "@nodeloom/identity";
import { service as media } from "@nodeloom/media";
import { service as models } from "@nodeloom/models";
import { service as usage } from "@nodeloom/usage";
import { service as workflows } from "@nodeloom/workflows";
import { expectDocumented } from "./contract";
import { send, sessionCookie, type Answer, type RequestOptions } from "./http";
import { freePort } from "../../../deploy/local/servers/ports.cjs";
import { startMigrated } from "../../../test-support/start-migrated";

export const ADMIN = { email: "admin@nodeloom.test", password: "correct horse battery staple" };
export const PASSWORD = "a password of some length";

/** An address without a server. */
const NOBODY = "127.0.0.1:1";

const requiredEnv = (name: string): string => {
  const value = process.env[name];
  if (!value) throw new Error(`${name} is not set: the global setup starts the servers`);
  return value;
};

export interface User {
  id: string;
  email: string;
  cookie: string;
  /** An API key with all capabilities of its tier; absent for Free. */
  key?: string;
}

export interface Platform {
  baseUrl: string;
  env: Record<string, string>;
  /** Sends a request and checks the response against the OpenAPI document. */
  send(path: string, options?: RequestOptions): Promise<Answer>;
  /** Headers of a request with the user's API key. */
  byKey(user: User): Record<string, string>;
  /** Headers of a request with the user's session, from the platform's own pages. */
  bySession(user: User): Record<string, string>;
  admin: User;
  createUser(options?: { tier?: string; approved?: boolean }): Promise<User>;
  /** Starts a new session of the user. */
  signIn(user: User): Promise<User>;
  /** Starts a second gateway with the same services. */
  startGateway(overrides?: Record<string, string>): Promise<{ baseUrl: string; stop(): Promise<void> }>;
  stop(): Promise<void>;
}

/** Starts a gateway and the services that don't run workflows. If a test fakes a service, it passes the fake's address. */
export const startPlatform = async (overrides: Record<string, string> = {}): Promise<Platform> => {
  const name = randomUUID().slice(0, 8);
  const mediaDir = await mkdtemp(join(tmpdir(), "nodeloom-gateway-"));
  const port = await freePort();
  const baseUrl = `http://127.0.0.1:${port}`;
  const env: Record<string, string> = {
    NODE_ENV: "test",
    LOG_LEVEL: process.env.LOG_LEVEL ?? "fatal",
    MONGODB_URI: requiredEnv("MONGODB_URI"),
    MONGODB_DATABASE_PREFIX: `test_${name}_`,
    REDIS_URL: requiredEnv("REDIS_URL"),
    REDIS_KEY_PREFIX: `test:${name}:`,
    PUBLIC_BASE_URL: baseUrl,
    REGISTRATION_RATE_LIMIT: "1000",
    GATEWAY_LISTEN: `127.0.0.1:${port}`,
    IDENTITY_LISTEN: "127.0.0.1:0",
    BILLING_LISTEN: "127.0.0.1:0",
    MODELS_LISTEN: "127.0.0.1:0",
    USAGE_LISTEN: "127.0.0.1:0",
    MEDIA_LISTEN: "127.0.0.1:0",
    MEDIA_HTTP_LISTEN: "127.0.0.1:0",
    MEDIA_DIR: mediaDir,
    API_KEY_PEPPER: "a pepper for tests, of enough characters",
    SECRETS_KEYS: randomBytes(32).toString("hex"),
    MEDIA_URL_KEYS: randomBytes(32).toString("hex"),
    SESSION_SECRET: "a session secret for tests",
    NODELOOM_ENV: "test",
    BOOTSTRAP_ADMIN_EMAIL: ADMIN.email,
    BOOTSTRAP_ADMIN_PASSWORD: ADMIN.password,
    SANDBOX_URL: `http://${NOBODY}`,
    WORKFLOWS_LISTEN: "127.0.0.1:0",
    EXECUTIONS_ADDRESS: NOBODY,
    NOTIFICATIONS_ADDRESS: NOBODY,
    ...overrides,
  };
  const store = await startMigrated(media, env);
  env.MEDIA_ADDRESS = `127.0.0.1:${store.ports!.MEDIA_LISTEN}`;
  const accounts = await startMigrated(identity, env);
  env.IDENTITY_ADDRESS = `127.0.0.1:${accounts.ports!.IDENTITY_LISTEN}`;
  const others = await Promise.all([billing, models, usage, workflows].map((service) => startMigrated(service, env)));
  const behind = [store, accounts, ...others];
  const ports: Record<string, number> = Object.assign({}, ...behind.map((service) => service.ports));
  const address = (variable: string): string => `127.0.0.1:${ports[variable]}`;
  Object.assign(env, {
    IDENTITY_ADDRESS: address("IDENTITY_LISTEN"),
    BILLING_ADDRESS: address("BILLING_LISTEN"),
    MODELS_ADDRESS: address("MODELS_LISTEN"),
    USAGE_ADDRESS: address("USAGE_LISTEN"),
    WORKFLOWS_ADDRESS: address("WORKFLOWS_LISTEN"),
    MEDIA_HTTP_URL: `http://${address("MEDIA_HTTP_LISTEN")}`,
    ...overrides,
  });
  const edge = await gateway.start(env);

  const checked = async (path: string, options: RequestOptions = {}): Promise<Answer> => {
    const answer = await send(baseUrl, path, options);
    expectDocumented(options.method ?? (options.json === undefined && options.body === undefined ? "GET" : "POST"), path, answer);
    return answer;
  };
  const bySession = (user: User): Record<string, string> => ({ cookie: user.cookie, origin: baseUrl });
  const login = await checked("/api/auth/login", { json: ADMIN });
  const admin: User = { id: (login.body.user as { id: string }).id, email: ADMIN.email, cookie: sessionCookie(login) };

  const issueKey = async (user: User): Promise<string> => {
    const answer = await checked("/api/keys", { json: { name: "everything", preset: "full-deploy" }, headers: bySession(user) });
    if (answer.status !== 201) throw new Error(`no key: ${answer.text}`);
    return String(answer.body.key);
  };
  admin.key = await issueKey(admin);

  return {
    baseUrl,
    env,
    send: checked,
    admin,
    byKey: (user) => ({ "x-api-key": user.key! }),
    bySession,
    createUser: async ({ tier = "pro", approved = true } = {}) => {
      const email = `${randomUUID().slice(0, 8)}@nodeloom.test`;
      const answer = await checked("/api/auth/register", { json: { email, password: PASSWORD } });
      const user: User = { id: (answer.body.user as { id: string }).id, email, cookie: sessionCookie(answer) };
      const change = await checked(`/api/admin/users/${user.id}`, { method: "PATCH", json: { approved, tier }, headers: bySession(admin) });
      if (change.status !== 200) throw new Error(`not changed: ${change.text}`);
      if (tier !== "free" && approved) user.key = await issueKey(user);
      return user;
    },
    signIn: async (user) => ({
      ...user,
      cookie: sessionCookie(await checked("/api/auth/login", { json: { email: user.email, password: PASSWORD } })),
    }),
    startGateway: async (more = {}) => {
      const another = await gateway.start({ ...env, GATEWAY_LISTEN: "127.0.0.1:0", ...more });
      return { baseUrl: `http://127.0.0.1:${another.ports!.GATEWAY_LISTEN}`, stop: () => another.stop() };
    },
    stop: async () => {
      await edge.stop();
      await Promise.all(behind.map((service) => service.stop()));
      await rm(mediaDir, { recursive: true, force: true });
    },
  };
};
