import { once } from "node:events";
import { createServer, type IncomingHttpHeaders, type Server } from "node:http";
import type { AddressInfo } from "node:net";

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
  const server: Server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on("data", (chunk: Buffer) => chunks.push(chunk));
    request.on("end", () => {
      const bytes = Buffer.concat(chunks);
      const recorded: RecordedRequest = {
        call: `${request.method} ${request.url}`,
        headers: request.headers,
        bytes,
        json: () => JSON.parse(bytes.toString()) as unknown,
        form: () => formOf(request.headers, bytes),
      };
      running.requests.push(recorded);
      void Promise.resolve(running.answer(recorded)).then(({ status = 200, headers = {}, json, bytes: body }) => {
        response.writeHead(status, { "content-type": json === undefined ? "application/octet-stream" : "application/json", ...headers });
        response.end(json === undefined ? (body ?? "") : JSON.stringify(json));
      });
    });
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
  const address = `127.0.0.1:${(server.address() as AddressInfo).port}`;
  const running: RecordingServer = {
    url: `http://${address}`,
    address,
    requests: [],
    answer: () => ({ status: 404, json: {} }),
    stop: async () => {
      server.closeAllConnections();
      server.close();
      await once(server, "close");
    },
  };
  return running;
};
