import { once } from "node:events";
import { createServer, type IncomingHttpHeaders } from "node:http";
import type { AddressInfo } from "node:net";

export interface RecordedRequest {
  method: string;
  path: string;
  headers: IncomingHttpHeaders;
  body: string;
  atMs: number;
}

/**
 * One response of a scripted service. `cut` ends it in the middle. `drop` closes the connection instead, before or after the request was
 * read.
 */
export type Script = { status: number; headers?: Record<string, string>; json?: unknown; text?: string; cut?: boolean } | "drop";

export interface ScriptedService {
  baseUrl: string;
  received: RecordedRequest[];
  stop(): Promise<void>;
}

/** A service that returns scripted responses in order and repeats the last one, for faults that no real service produces on demand. */
export const startScripted = async (...script: Script[]): Promise<ScriptedService> => {
  const received: RecordedRequest[] = [];
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on("data", (chunk: Buffer) => chunks.push(chunk));
    request.on("end", () => {
      const { method = "", url = "", headers } = request;
      received.push({ method, path: url, headers, body: Buffer.concat(chunks).toString(), atMs: Date.now() });
      const answer = script[Math.min(received.length, script.length) - 1]!;
      if (answer === "drop") return void request.socket.destroy();
      const text = answer.text ?? (answer.json === undefined ? "" : JSON.stringify(answer.json));
      response.writeHead(answer.status, { "content-type": "application/json; charset=utf-8", ...answer.headers });
      if (answer.cut) response.write(text, () => setImmediate(() => request.socket.destroy()));
      else response.end(text);
    });
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
  return {
    baseUrl: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    received,
    stop: async () => {
      if (!server.listening) return;
      server.closeAllConnections();
      server.close();
      await once(server, "close");
    },
  };
};
