import { randomUUID } from "node:crypto";
import type { Platform } from "./platform";

import { eventually } from "./eventually";

export { eventually };

export interface Answer {
  status: number;
  headers: Headers;
  /** The JSON body; empty for other types. */
  body: Record<string, unknown>;
  text: string;
}

export interface CallOptions {
  body?: unknown;
  /** Body that is sent unchanged in place of `body`. */
  raw?: string;
  headers?: Record<string, string>;
  key?: string | undefined;
  cookie?: string;
}

/** Makes one HTTP call. */
export const call = async (baseUrl: string, method: string, path: string, options: CallOptions = {}): Promise<Answer> => {
  const { body, raw, key, cookie } = options;
  const content = raw ?? (body === undefined ? undefined : JSON.stringify(body));
  const response = await fetch(baseUrl + path, {
    method,
    headers: {
      ...(content === undefined ? {} : { "content-type": "application/json" }),
      ...(key === undefined ? {} : { "x-api-key": key }),
      ...(cookie === undefined ? {} : { cookie, origin: baseUrl }),
      ...options.headers,
    },
    ...(content === undefined ? {} : { body: content }),
  });
  const text = await response.text();
  let parsed: unknown = {};
  try {
    parsed = JSON.parse(text);
  } catch {
    // Some responses, such as files and 204, aren't JSON.
  }
  return { status: response.status, headers: response.headers, body: parsed as Answer["body"], text };
};

export interface Account {
  userId: string;
  email: string;
  password: string;
  cookie: string;
  key?: string;
}

const cookieOf = (answer: Answer): string =>
  answer.headers
    .getSetCookie()
    .map((cookie) => cookie.split(";")[0])
    .join("; ");

const must = (answer: Answer, ...statuses: number[]): Answer => {
  if (!statuses.includes(answer.status)) throw new Error(`expected ${statuses.join(" or ")}, got ${answer.status}: ${answer.text}`);
  return answer;
};

/** Retries while a service is too busy, for the set-up of a test. */
export const patient = (ask: () => Promise<Answer>): Promise<Answer> => eventually(ask, ({ status }) => status !== 503);

export interface AccountOptions {
  tier?: string;
  approved?: boolean;
  /** Capabilities of the key; Full deploy by default. Null creates no key. */
  capabilities?: string[] | null;
  webhook?: { url: string; events?: string[] };
}

/** Calls a platform anonymously, as the administrator, and as accounts that it creates. */
export const clientOf = (platform: Pick<Platform, "baseUrl" | "admin">) => {
  const { baseUrl, admin } = platform;
  let adminCookie: Promise<string> | undefined;
  const login = async (email: string, password: string): Promise<string> =>
    cookieOf(must(await patient(() => call(baseUrl, "POST", "/api/auth/login", { body: { email, password } })), 200));
  const asAdmin = async (method: string, path: string, body?: unknown): Promise<Answer> => {
    adminCookie ??= login(admin.email, admin.password);
    return call(baseUrl, method, path, { cookie: await adminCookie, ...(body === undefined ? {} : { body }) });
  };

  const createKey = async (cookie: string, options: Pick<AccountOptions, "capabilities" | "webhook">): Promise<Answer> =>
    must(
      await patient(() =>
        call(baseUrl, "POST", "/api/keys", {
          cookie,
          body: {
            name: "test",
            ...(options.capabilities ? { capabilities: options.capabilities } : { preset: "full-deploy" }),
            ...(options.webhook ? { webhook: options.webhook } : {}),
          },
        }),
      ),
      201,
    );

  const account = async ({ tier = "business", approved = true, capabilities, webhook }: AccountOptions = {}): Promise<
    Account & { webhookSecret?: string }
  > => {
    const password = "correct horse battery staple";
    let email = "";
    // Uses another email address on each attempt, because a request that times out can have created the account.
    const register = (): Promise<Answer> => {
      email = `${randomUUID()}@nodeloom.test`;
      return call(baseUrl, "POST", "/api/auth/register", { body: { email, password } });
    };
    must(await patient(register), 201);
    const cookie = await login(email, password);
    const { body } = must(await patient(() => call(baseUrl, "GET", "/api/whoami", { cookie })), 200);
    const userId = (body as unknown as { user: { id: string } }).user.id;
    if (approved || tier !== "free") must(await patient(() => asAdmin("PATCH", `/api/admin/users/${userId}`, { approved, tier })), 200);
    const newAccount: Account & { webhookSecret?: string } = { userId, email, password, cookie };
    if (tier === "free" || !approved || capabilities === null) return newAccount;
    const created = (await createKey(cookie, { ...(capabilities ? { capabilities } : {}), ...(webhook ? { webhook } : {}) }))
      .body as unknown as {
      key: string;
      webhookSecret?: string;
    };
    newAccount.key = created.key;
    if (created.webhookSecret !== undefined) newAccount.webhookSecret = created.webhookSecret;
    return newAccount;
  };

  return {
    call: (method: string, path: string, options?: CallOptions) => call(baseUrl, method, path, options),
    asAdmin,
    login,
    account,
    createKey,
  };
};

/** Reads a file to its end, because Node.js 24 fails if the connection of an unread response is closed. */
export const fetchFile = async (url: string): Promise<{ status: number; contentType: string | null; bytes: number }> => {
  const response = await fetch(url);
  const { byteLength } = await response.arrayBuffer();
  return { status: response.status, contentType: response.headers.get("content-type"), bytes: byteLength };
};

/** Attempts with an interval in seconds, and with a longer one if `attempt` returns false because the machine was too busy. */
export const paced = async (attempt: (seconds: number) => Promise<boolean>, paces: readonly number[] = [2, 10, 40]): Promise<void> => {
  for (const seconds of paces) if (await attempt(seconds)) return;
  throw new Error("the machine is too busy to look in time");
};
