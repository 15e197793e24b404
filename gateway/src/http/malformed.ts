import { randomUUID } from "node:crypto";
import { STATUS_CODES, type Server } from "node:http";
import { invalidRequest } from "@nodeloom/kernel";
import { errorReply, requestTimeout } from "./errors";

/** Messages for the errors of Node's HTTP parser and timers, by their code. */
const WRONG: Readonly<Record<string, string>> = {
  HPE_HEADER_OVERFLOW: "the address and headers are too long",
};
const TOO_LATE = "ERR_HTTP_REQUEST_TIMEOUT";
const NOT_HTTP = "this is not a valid HTTP request";

/** Answers requests that Node could not parse, in the form of every other error, where the connection can still be written to. */
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
