const REQUEST_TIMEOUT_MS = 150_000;
const BUSY_STATUSES = new Set([429, 503]);
const ATTEMPTS = 5;
const DEFAULT_WAIT_S = 1;

/**
 * @typedef {object} Answer
 * @property {number} status
 * @property {any} body parsed JSON; undefined without a body
 * @property {string} cookie the session cookie of the response, or ""
 *
 * @typedef {{ key?: string, cookie?: string, body?: unknown, bytes?: Uint8Array<ArrayBuffer>, traceId?: string }} RequestOptions `bytes`: a
 *   file instead of a JSON body
 * @typedef {(method: string, path: string, options?: RequestOptions) => Promise<Answer>} Client
 */

/**
 * API client that retries after 429 and 503.
 * @param {string} baseUrl
 * @returns {Client}
 */
export const createClient = (baseUrl) => {
  const { origin } = new URL(baseUrl);

  /** @param {string} method @param {string} path @param {RequestOptions} options */
  const once = (method, path, { key, cookie, body, bytes, traceId }) =>
    fetch(new URL(path, baseUrl), {
      method,
      signal: AbortSignal.timeout(REQUEST_TIMEOUT_MS),
      headers: {
        origin,
        ...(key === undefined ? {} : { "x-api-key": key }),
        ...(cookie === undefined ? {} : { cookie }),
        ...(body === undefined ? {} : { "content-type": "application/json" }),
        ...(traceId === undefined ? {} : { traceparent: `00-${traceId}-${traceId.slice(16)}-01` }),
      },
      ...(bytes === undefined ? {} : { body: bytes }),
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });

  return async (method, path, options = {}) => {
    for (let attempt = 1; ; attempt += 1) {
      const response = await once(method, path, options);
      const text = await response.text();
      if (BUSY_STATUSES.has(response.status) && attempt < ATTEMPTS) {
        const waitSeconds = Number(response.headers.get("retry-after") ?? DEFAULT_WAIT_S);
        await new Promise((resolve) => setTimeout(resolve, waitSeconds * 1_000));
        continue;
      }
      const cookie = response.headers
        .getSetCookie()
        .map((line) => line.split(";")[0])
        .join("; ");
      return { status: response.status, body: text === "" ? undefined : parse(text), cookie };
    }
  };
};

/** @param {string} text */
const parse = (text) => {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
};

/**
 * Body of a response that must have one of the statuses.
 * @param {string} what description for the error message
 * @param {Answer} answer
 * @param {...number} statuses
 */
export const expectStatus = (what, answer, ...statuses) => {
  if (statuses.includes(answer.status)) return answer;
  const { error, code } = answer.body ?? {};
  throw new Error(`${what} was answered ${answer.status}${code ? ` ${code}` : ""}${error ? `: ${error}` : ""}`);
};
