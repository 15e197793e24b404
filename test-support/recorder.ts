import { once } from "node:events";
import { createServer, type IncomingHttpHeaders, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";

export interface RecordedRequest {
  method: string;
  /** Path with its query. */
  path: string;
  headers: IncomingHttpHeaders;
  bytes: Buffer;
  body: string;
  at: number;
}

export type Respond = (response: ServerResponse, request: RecordedRequest) => void;

export interface Recorder {
  /** `host:port`, for exceptions of an egress guard. */
  address: string;
  url: string;
  requests: RecordedRequest[];
  /** Answers the next requests. */
  respond: Respond;
  close(): Promise<void>;
}

/** An HTTP server on loopback that records its requests. By default it answers them with 204. */
export const startRecorder = async (respond: Respond = (response) => void response.writeHead(204).end(), port = 0): Promise<Recorder> => {
  const requests: RecordedRequest[] = [];
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on("data", (chunk: Buffer) => chunks.push(chunk));
    request.on("end", () => {
      const { method = "", url = "", headers } = request;
      const bytes = Buffer.concat(chunks);
      const recorded = { method, path: url, headers, bytes, body: bytes.toString(), at: Date.now() };
      requests.push(recorded);
      recorder.respond(response, recorded);
    });
  }).listen(port, "127.0.0.1");
  await once(server, "listening");
  const address = `127.0.0.1:${(server.address() as AddressInfo).port}`;
  const close = async (): Promise<void> => {
    if (!server.listening) return;
    const closed = once(server, "close");
    server.close();
    server.closeAllConnections();
    await closed;
  };
  const recorder: Recorder = { address, url: `http://${address}`, requests, respond, close };
  return recorder;
};
