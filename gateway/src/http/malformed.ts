import { randomUUID } from "node:crypto";
import { STATUS_CODES, type Server } from "node:http";
import { invalidRequest } from "@nodeloom/kernel";
import { errorReply, requestTimeout } from "./errors";

/** What Node's parser and timers say, for those who sent it. */
const WRONG: Readonly<Record<string, string>> = {
  HPE_HEADER_OVERFLOW: "the address and headers are too long",
};
const TOO_LATE = "ERR_HTTP_REQUEST_TIMEOUT";
const NOT_HTTP = "this is not a valid HTTP request";

/** Answers what is not even HTTP in the form of every other error, where the connection still allows it. */
export const answerMalformed = (server: Server): void => {
  server.on("clientError", (error: NodeJS.ErrnoException, socket) => {
    if (!socket.writable) return void socket.destroy();
    const isLate = error.code === TOO_LATE;
    const wrong = isLate ? requestTimeout() : invalidRequest([{ path: "", message: WRONG[error.code ?? ""] ?? NOT_HTTP }]);
    const { status, body } = errorReply(wrong);
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
