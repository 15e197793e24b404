const ATTEMPTS = 60;
const RETRY_MS = 500;

/** @typedef {{ status: number, headers: Headers, body: any }} Answer */
/** @typedef {{ key: string, keyId: string, webhookSecret: string, userId: string, cookie: string }} User */

/**
 * HTTP client that retries after no response, 429 and 503.
 * @param {() => string} baseUrl @param {(answer: Answer, request: string) => void} [onAnswer] called for every answer, also before a retry
 */
export const createApi = (baseUrl, onAnswer = () => undefined) => {
  /** @param {string} method @param {string} path @param {{ key?: string, cookie?: string, body?: unknown, idempotencyKey?: string, prefer?: string, organization?: string }} [options] @returns {Promise<Answer>} */
  const once = async (method, path, { key, cookie, body, idempotencyKey, prefer, organization } = {}) => {
    const response = await fetch(baseUrl() + path, {
      method,
      headers: {
        ...(body === undefined ? {} : { "content-type": "application/json" }),
        ...(key ? { "x-api-key": key } : {}),
        ...(cookie ? { cookie, origin: baseUrl() } : {}),
        ...(idempotencyKey ? { "idempotency-key": idempotencyKey } : {}),
        ...(prefer ? { prefer } : {}),
        ...(organization ? { "x-organization": organization } : {}),
      },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      signal: AbortSignal.timeout(150_000),
    });
    const text = await response.text();
    const answer = { status: response.status, headers: response.headers, body: text === "" ? null : JSON.parse(text) };
    onAnswer(answer, `${method} ${path}`);
    return answer;
  };

  /** @type {typeof once} */
  const call = async (method, path, options) => {
    for (let attempt = 1; ; attempt += 1) {
      const answer = await once(method, path, options).catch((error) => ({ error }));
      const again = "error" in answer || answer.status === 429 || answer.status === 503 || answer.status === 409;
      if (!again) return answer;
      if (attempt === ATTEMPTS) throw new Error(`${method} ${path}: ${"error" in answer ? answer.error : JSON.stringify(answer.body)}`);
      await new Promise((resolve) => setTimeout(resolve, RETRY_MS));
    }
  };

  /** @param {Record<string, any>} accounts @param {string} webhookUrl @returns {Promise<User>} */
  const enterprise = async (accounts, webhookUrl) => {
    const { email, password, userId } = accounts.enterprise;
    const login = await call("POST", "/api/auth/login", { body: { email, password } });
    const cookie = login.headers
      .getSetCookie()
      .map((one) => one.split(";")[0])
      .join("; ");
    const created = await call("POST", "/api/keys", {
      cookie,
      body: { name: "chaos", preset: "full-deploy", webhook: { url: webhookUrl } },
    });
    if (created.status !== 201) throw new Error(`no key: ${JSON.stringify(created.body)}`);
    return { key: created.body.key, keyId: created.body.id, webhookSecret: created.body.webhookSecret, userId, cookie };
  };

  return { call, enterprise };
};

/** Requests with an expected status. @param {ReturnType<typeof createApi>["call"]} call */
export const expecting =
  (call) =>
  /** @param {number} status @param {Parameters<typeof call>} request */
  async (status, ...request) => {
    const answer = await call(...request);
    if (answer.status === status) return answer;
    throw new Error(`${request[0]} ${request[1]} was answered ${answer.status}: ${JSON.stringify(answer.body)}`);
  };
