import { randomUUID } from "node:crypto";
import { STATUS_CODES, type Server } from "node:http";
import { invalidRequest } from "@nodeloom/kernel";
import { errorReply, requestTimeout } from "./errors";
import { PROTOCOLS, protocolOf } from "./protocols";

/** Messages for errors of Node's HTTP parser and timers, by code. */
const WRONG: Readonly<Record<string, string>> = {
  HPE_HEADER_OVERFLOW: "the address and headers are too long",
};
const TOO_LATE = "ERR_HTTP_REQUEST_TIMEOUT";
const HEAD_BYTES = 200;
const NOT_HTTP = "this is not a valid HTTP request";

const PATH = /^[A-Z]{3,10} (\S{1,100})/;

/** Path of a malformed request, if its first bytes show it. */
const pathOf = ({ rawPacket }: Error & { rawPacket?: unknown }): string =>
  (Buffer.isBuffer(rawPacket) ? PATH.exec(rawPacket.toString("latin1", 0, HEAD_BYTES))?.[1] : undefined) ?? "";

/** Answers malformed requests in the usual error format, if the connection is still writable. */
export const answerMalformed = (server: Server): void => {
  server.on("clientError", (error: NodeJS.ErrnoException, socket) => {
    if (!socket.writable) return void socket.destroy();
    const isLate = error.code === TOO_LATE;
    const wrong = isLate ? requestTimeout() : invalidRequest([{ path: "", message: WRONG[error.code ?? ""] ?? NOT_HTTP }]);
    const { status, body } = PROTOCOLS[protocolOf(pathOf(error))].asError(errorReply(wrong));
    const text = JSON.stringify(body);
    const head = [
      `HTTP/1.1 ${status} ${STATUS_CODES[status]}`,
      "Content-Type: application/json; charset=utf-8",
      `Content-Length: ${Buffer.byteLength(text)}`,
      `X-Request-Id: ${randomUUID()}`,
      "Connection: close",
    ];
    socket.end(`${head.join("\r\n")}\r\n\r\n${text}`);
  });
};
