import { Agent, request } from "node:http";

const REQUEST_TIMEOUT_MS = 60_000;

export interface Answer {
  status: number;
  text: string;
}

/** Calls an API over keep-alive connections, one per concurrent call. */
export interface ApiClient {
  call(method: string, path: string, body?: unknown): Promise<Answer>;
  /** JSON of a response that must have this status. */
  expect<T>(status: number, method: string, path: string, body?: unknown): Promise<T>;
  close(): void;
}

/** @param signal aborts every call in progress */
export const createApiClient = (baseUrl: string, key: string, signal: AbortSignal): ApiClient => {
  const agent = new Agent({ keepAlive: true, noDelay: true });

  const call = (method: string, path: string, body?: unknown): Promise<Answer> =>
    new Promise((resolve, reject) => {
      const content = body === undefined ? undefined : JSON.stringify(body);
      const headers = {
        "x-api-key": key,
        ...(content === undefined ? {} : { "content-type": "application/json", "content-length": Buffer.byteLength(content) }),
      };
      const outgoing = request(new URL(path, baseUrl), { method, agent, headers, signal, timeout: REQUEST_TIMEOUT_MS }, (response) => {
        const chunks: Buffer[] = [];
        response.on("data", (chunk: Buffer) => chunks.push(chunk));
        response.once("error", reject);
        response.once("end", () => resolve({ status: response.statusCode ?? 0, text: Buffer.concat(chunks).toString("utf8") }));
      });
      outgoing.once("timeout", () => outgoing.destroy(new Error(`${method} ${path} was silent for ${REQUEST_TIMEOUT_MS / 1_000} s`)));
      outgoing.once("error", reject);
      outgoing.end(content);
    });

  return {
    call,
    expect: async <T>(status: number, method: string, path: string, body?: unknown): Promise<T> => {
      const answer = await call(method, path, body);
      if (answer.status !== status) throw new Error(`${method} ${path} was answered ${answer.status}: ${answer.text}`);
      return (answer.text === "" ? undefined : JSON.parse(answer.text)) as T;
    },
    close: () => agent.destroy(),
  };
};
