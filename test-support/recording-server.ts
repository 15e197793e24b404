import type { IncomingHttpHeaders } from "node:http";
import { startRecorder } from "./recorder";

/** A provider on loopback that records its requests and returns the test's answers. */

export interface RecordedRequest {
  /** For example `POST /v1/images?x=1`. */
  call: string;
  headers: IncomingHttpHeaders;
  bytes: Buffer;
  json: () => unknown;
  /** Parses a form in order: texts, and name, type and text of each file. A name can occur more than once. */
  form: () => Promise<[string, unknown][]>;
}
export interface Reply {
  status?: number;
  headers?: Record<string, string>;
  json?: unknown;
  bytes?: Buffer;
}

export interface RecordingServer {
  url: string;
  /** host:port */
  address: string;
  requests: RecordedRequest[];
  answer: (request: RecordedRequest) => Reply | Promise<Reply>;
  stop: () => Promise<void>;
}

const formOf = async (headers: IncomingHttpHeaders, bytes: Buffer): Promise<[string, unknown][]> => {
  const form = await new Response(new Uint8Array(bytes), { headers: { "content-type": headers["content-type"]! } }).formData();
  return Promise.all(
    [...form].map(async ([name, value]): Promise<[string, unknown]> => {
      if (typeof value === "string") return [name, value];
      return [name, { file: value.name, type: value.type, text: await value.text() }];
    }),
  );
};

export const startRecordingServer = async (): Promise<RecordingServer> => {
  const { address, url, close } = await startRecorder((response, { method, path, headers, bytes, body }) => {
    const recorded: RecordedRequest = {
      ...{ call: `${method} ${path}`, headers, bytes },
      json: () => JSON.parse(body) as unknown,
      form: () => formOf(headers, bytes),
    };
    running.requests.push(recorded);
    void Promise.resolve(running.answer(recorded)).then(({ status = 200, headers: added = {}, json, bytes: answer }) => {
      response.writeHead(status, { "content-type": json === undefined ? "application/octet-stream" : "application/json", ...added });
      response.end(json === undefined ? (answer ?? "") : JSON.stringify(json));
    });
  });
  const running: RecordingServer = { ...{ url, address, stop: close }, requests: [], answer: () => ({ status: 404, json: {} }) };
  return running;
};
