import { Agent, request } from "node:http";

const TIMEOUT_MS = 150_000;

/**
 * One client connection, kept open until the server closes it, without retries.
 * @typedef {{ status: number, body: string, headers: import("node:http").IncomingHttpHeaders }} Answer
 * @typedef {{ method?: string, path: string, body?: unknown, headers?: Record<string, string>, cookie?: string }} Asked `cookie`:
 *   authenticates by session instead of by key
 * @param {{ baseUrl: string, key: string }} options
 */
export const createConnection = ({ baseUrl, key }) => {
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  /** @param {Asked} asked @param {(chunk: string) => void} [onChunk] @returns {Promise<Answer>} */
  const send = ({ method = "GET", path, body, headers = {}, cookie }, onChunk = () => {}) =>
    new Promise((resolve, reject) => {
      const content = body === undefined ? undefined : JSON.stringify(body);
      const type =
        content === undefined ? {} : { "content-type": "application/json", "content-length": String(Buffer.byteLength(content)) };
      const caller = cookie === undefined ? { "x-api-key": key } : { cookie };
      const outgoing = request(new URL(path, baseUrl), { method, agent, headers: { ...caller, ...type, ...headers } }, (response) => {
        let text = "";
        response.setEncoding("utf8");
        response.on("data", (/** @type {string} */ chunk) => {
          text += chunk;
          onChunk(chunk);
        });
        response.once("error", reject);
        response.once("end", () => resolve({ status: response.statusCode ?? 0, body: text, headers: response.headers }));
      });
      outgoing.setTimeout(TIMEOUT_MS, () => outgoing.destroy(new Error("no answer in time")));
      outgoing.once("error", reject);
      outgoing.end(content);
    });
  return { send, close: () => agent.destroy() };
};
