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

  /** Opens a session. @param {{ email: string, password: string }} account @returns {Promise<string>} its cookie */
  const signIn = async ({ email, password }) => {
    const { status, headers, body } = await call("POST", "/api/auth/login", { body: { email, password } });
    if (status !== 200) throw new Error(`the sign-in was answered ${status}: ${JSON.stringify(body)}`);
    return headers
      .getSetCookie()
      .map((one) => one.split(";")[0])
      .join("; ");
  };

  /** Adds credits. @param {Record<string, any>} accounts @param {string} userId @param {number} amount */
  const grant = async ({ admin }, userId, amount) => {
    const body = { kind: "topup", amount, note: "drill" };
    const answer = await call("POST", `/api/admin/users/${userId}/credits`, { key: admin.apiKey, body });
    if (answer.status !== 200) throw new Error(`credits were answered ${answer.status}: ${JSON.stringify(answer.body)}`);
  };

  /** Saves a workflow. @param {string} key @param {object} graph @returns {Promise<string>} its slug */
  const save = async (key, graph) => {
    const { status, body } = await call("POST", "/api/workflows", { key, body: graph });
    if (status !== 201) throw new Error(`a workflow was answered ${status}: ${JSON.stringify(body)}`);
    return body.slug;
  };

  /** Cancels batches that an aborted drill left. Otherwise they run on beside this drill, and their runs hold credits. @param {string} cookie */
  const cancelBatches = async (cookie) => {
    const { body } = await call("GET", "/api/batches?limit=100", { cookie });
    const openIds = body.rows
      .filter((/** @type {any} */ { finishedAt }) => finishedAt === null)
      .map((/** @type {any} */ { batchId }) => batchId);
    for (const id of openIds) await call("POST", `/api/batches/${id}/cancel`, { cookie });
  };

  /** @param {Record<string, any>} accounts @param {string} webhookUrl @returns {Promise<User>} */
  const enterprise = async (accounts, webhookUrl) => {
    const { userId } = accounts.enterprise;
    const cookie = await signIn(accounts.enterprise);
    const created = await call("POST", "/api/keys", {
      cookie,
      body: { name: "chaos", preset: "full-deploy", webhook: { url: webhookUrl } },
    });
    if (created.status !== 201) throw new Error(`no key: ${JSON.stringify(created.body)}`);
    await cancelBatches(cookie);
    return { key: created.body.key, keyId: created.body.id, webhookSecret: created.body.webhookSecret, userId, cookie };
  };

  return { call, signIn, grant, save, enterprise };
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
