import { randomBytes } from "node:crypto";
import { call, eventually, paced, patient, type Answer, type CallOptions } from "../../../test-support/client";
import { answers, pick } from "./check";
import type { Receiver } from "../../../test-support/receiver";

export interface Credentials {
  email: string;
  password: string;
  userId?: string;
  apiKey?: string;
}

/** Accounts of a deployment, in the launcher's format. Only the administrator is required. */
export type Accounts = { admin: Credentials } & Record<string, Credentials>;

/** Requests with one identity. */
export interface Caller {
  call(method: string, path: string, options?: CallOptions): Promise<Answer>;
  get(path: string): Promise<Answer>;
  post(path: string, body?: unknown): Promise<Answer>;
  put(path: string, body?: unknown): Promise<Answer>;
  patch(path: string, body?: unknown): Promise<Answer>;
  delete(path: string): Promise<Answer>;
}

/** A user. Calls use its key, unless made through `session`. */
export interface Actor extends Caller {
  userId: string;
  email: string;
  password: string;
  cookie: string;
  /** Empty for users who can't have a key. */
  key: string;
  keyId: string;
  webhookSecret: string;
  session: Caller;
  /** This user with another key and these grants. */
  withKey(grants: string[] | { preset: string }, settings?: Record<string, unknown>): Promise<Actor>;
  /** Balances from /api/me. */
  credits(): Promise<{ plan: number; topUp: number; held: number; grants: { model: string; remaining: number; total: number }[] }>;
}

export interface ActorOptions {
  tier?: string;
  approved?: boolean;
  role?: "user" | "admin";
  grants?: string[];
  webhook?: { url: string; events?: string[] };
  noKey?: boolean;
}

export interface TierSettings {
  base: string;
  rateLimitPerMinute: number | null;
  markup: number;
  monthlyCredits: number;
  concurrency: number;
}

/** Context of every case. */
export interface Context {
  baseUrl: string;
  accounts: Accounts;
  receiver: Receiver | undefined;
  /** Without credentials. */
  anonymous: Caller;
  admin: Caller;
  /** A new user; by default approved and with a Full deploy key. */
  actor(options?: ActorOptions): Promise<Actor>;
  /** A user that cases with the same purpose share. Its balances prove nothing. */
  shared(tier: string, purpose?: string): Promise<Actor>;
  /** Signs in with existing credentials. */
  signIn(credentials: Credentials): Promise<Actor>;
  /**
   * Creates a custom tier unless it exists.
   * @returns its ID
   */
  tier(name: string, settings?: Partial<TierSettings>): Promise<string>;
}

const callerWith = (ask: Caller["call"]): Caller => {
  const withBody =
    (method: string) =>
    (path: string, body?: unknown): Promise<Answer> =>
      ask(method, path, body === undefined ? {} : { body });
  return {
    call: ask,
    get: (path) => ask("GET", path),
    post: withBody("POST"),
    put: withBody("PUT"),
    patch: withBody("PATCH"),
    delete: (path) => ask("DELETE", path),
  };
};

const callerOf = (baseUrl: string, identity: Pick<CallOptions, "key" | "cookie">): Caller =>
  callerWith((method, path, options = {}) => call(baseUrl, method, path, { ...identity, ...options }));

/** A session that acts for an organization. */
export const within = ({ call: ask }: Caller, organizationId: string): Caller =>
  callerWith((method, path, { headers, ...options } = {}) =>
    ask(method, path, { ...options, headers: { "x-organization": organizationId, ...headers } }),
  );

const cookieOf = (answer: Answer): string =>
  answer.headers
    .getSetCookie()
    .map((cookie) => cookie.split(";")[0])
    .join("; ");

interface Identity extends Credentials {
  userId: string;
  cookie: string;
}
type IssuedKey = Pick<Actor, "key" | "keyId" | "webhookSecret">;
const NO_KEY: IssuedKey = { key: "", keyId: "", webhookSecret: "" };

const actorOf = (baseUrl: string, identity: Identity, issued: IssuedKey): Actor => {
  const session = callerOf(baseUrl, { cookie: identity.cookie });
  const byKey = callerOf(baseUrl, issued.key === "" ? {} : { key: issued.key });
  return {
    ...byKey,
    ...issued,
    userId: identity.userId,
    email: identity.email,
    password: identity.password,
    cookie: identity.cookie,
    session,
    withKey: async (grants, settings) => actorOf(baseUrl, identity, await issueKey(session, grants, settings)),
    credits: async () => pick<Awaited<ReturnType<Actor["credits"]>>>(answers(await session.get("/api/me"), 200), "credits"),
  };
};

const issueKey = async (
  session: Caller,
  grants: string[] | { preset: string },
  settings: Record<string, unknown> = {},
): Promise<IssuedKey> => {
  const rights = Array.isArray(grants) ? { capabilities: grants } : grants;
  const answer = answers(await patient(() => session.post("/api/keys", { name: "conformance", ...rights, ...settings })), 201);
  const { webhookSecret } = answer.body as { webhookSecret?: string };
  return { key: pick(answer, "key"), keyId: pick(answer, "id"), webhookSecret: webhookSecret ?? "" };
};

/** A text that the suite hasn't used before. */
export const unique = (): string => randomBytes(6).toString("hex");

const TIER: TierSettings = { base: "pro", rateLimitPerMinute: null, markup: 1.5, monthlyCredits: 2_000, concurrency: 10 };

const actorsOf =
  (baseUrl: string, admin: Caller) =>
  async (options: ActorOptions): Promise<Actor> => {
    const { tier = "business", approved = true, role, grants, webhook, noKey = false } = options;
    let credentials = { email: "", password: "" };
    // Uses another email address on each attempt, because a request that times out can have created the account.
    const register = (): Promise<Answer> => {
      credentials = { email: `${unique()}@conformance.test`, password: `conformance ${unique()}` };
      return call(baseUrl, "POST", "/api/auth/register", { body: credentials });
    };
    const registered = answers(await patient(register), 201);
    const identity: Identity = { ...credentials, userId: pick(registered, "user.id"), cookie: cookieOf(registered) };
    const changes = { ...(approved ? { approved } : {}), ...(tier === "free" ? {} : { tier }), ...(role ? { role } : {}) };
    if (Object.keys(changes).length > 0) answers(await patient(() => admin.patch(`/api/admin/users/${identity.userId}`, changes)), 200);
    if (noKey || !approved || (tier === "free" && role !== "admin")) return actorOf(baseUrl, identity, NO_KEY);
    const settings = webhook ? { webhook } : {};
    // A tier change can take a moment to reach every replica.
    const issued = await issueKey(callerOf(baseUrl, { cookie: identity.cookie }), grants ?? { preset: "full-deploy" }, settings);
    return actorOf(baseUrl, identity, issued);
  };

/** Signs the administrator in and makes the context of cases. */
export const createContext = async (baseUrl: string, accounts: Accounts, receiver: Receiver | undefined): Promise<Context> => {
  const signIn: Context["signIn"] = async ({ email, password, apiKey }) => {
    const answer = answers(await patient(() => call(baseUrl, "POST", "/api/auth/login", { body: { email, password } })), 200);
    const identity: Identity = { email, password, userId: pick(answer, "user.id"), cookie: cookieOf(answer) };
    return actorOf(baseUrl, identity, { ...NO_KEY, key: apiKey ?? "" });
  };
  const admin = (await signIn(accounts.admin)).session;
  const actor = actorsOf(baseUrl, admin);
  const promises = new Map<string, Promise<unknown>>();
  const once = <T>(name: string, make: () => Promise<T>): Promise<T> => {
    const value = (promises.get(name) as Promise<T> | undefined) ?? make();
    promises.set(name, value);
    return value;
  };
  return {
    baseUrl,
    accounts,
    receiver,
    anonymous: callerOf(baseUrl, {}),
    admin,
    signIn,
    actor: (options = {}) => actor(options),
    shared: (tier, purpose = "any") => once(`${tier} ${purpose}`, () => actor({ tier })),
    tier: (name, settings = {}) =>
      once(`tier ${name}`, async () => {
        const id = `conformance-${name}`;
        answers(await admin.put(`/api/admin/tiers/${id}`, { ...TIER, ...settings }), 200);
        return id;
      }),
  };
};

const FINAL: readonly unknown[] = ["completed", "failed", "cancelled"];

/** Polls an execution until it ends. */
export const finished = (caller: Caller, executionId: string): Promise<Answer> =>
  eventually(
    () => caller.get(`/api/executions/${executionId}`),
    ({ body }) => FINAL.includes(body.status),
  );

/** State of a run once a provider has accepted its first call. */
export const submitted = (caller: Caller, executionId: string): Promise<Answer> =>
  eventually(
    () => caller.get(`/api/executions/${executionId}`),
    ({ body }) => typeof body.requestId === "string",
  );

export { eventually, paced };
