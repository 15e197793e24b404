import { request as httpRequest, type IncomingHttpHeaders } from "node:http";

export interface RequestOptions {
  method?: string;
  headers?: Record<string, string | string[]>;
  /** True to omit the length, so that the body is sent in chunks. */
  chunked?: boolean;
  json?: unknown;
  /** Body that is sent unchanged. */
  body?: string | Buffer;
}

export interface Answer {
  status: number;
  headers: IncomingHttpHeaders;
  text: string;
  /** The parsed body; undefined without a JSON body. */
  body: Record<string, unknown> & unknown[];
}

/** Sends one HTTP request over a connection of its own, without normalizing it. */
export const send = (
  baseUrl: string,
  path: string,
  { method, headers = {}, json, body, chunked = false }: RequestOptions = {},
): Promise<Answer> => {
  const payload = json === undefined ? body : JSON.stringify(json);
  const { hostname, port } = new URL(baseUrl);
  const sentHeaders = {
    ...(json === undefined ? {} : { "content-type": "application/json" }),
    ...(payload === undefined || chunked ? {} : { "content-length": String(Buffer.byteLength(payload)) }),
    ...headers,
  };
  return new Promise((resolve, reject) => {
    const outgoing = httpRequest({
      hostname,
      port,
      path,
      method: method ?? (payload === undefined ? "GET" : "POST"),
      headers: sentHeaders,
      agent: false,
    });
    outgoing.on("error", reject);
    outgoing.on("response", (incoming) => {
      const chunks: Buffer[] = [];
      incoming.on("data", (chunk: Buffer) => chunks.push(chunk));
      incoming.on("error", reject);
      incoming.on("end", () => {
        const text = Buffer.concat(chunks).toString("utf8");
        const isJson = (incoming.headers["content-type"] ?? "").includes("json");
        const parsed = (isJson && text !== "" ? JSON.parse(text) : undefined) as Answer["body"];
        resolve({ status: incoming.statusCode ?? 0, headers: incoming.headers, text, body: parsed });
      });
    });
    outgoing.end(payload);
  });
};

/** The name=value pair of a session cookie that a response sets. */
export const sessionCookie = (answer: Answer): string => {
  const cookie = (answer.headers["set-cookie"] ?? []).find((header) => /^(?:__Host-)?nodeloom_session=/.test(header));
  if (!cookie) throw new Error("the answer sets no session cookie");
  return cookie.split(";")[0]!;
};
