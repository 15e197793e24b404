import { randomUUID } from "node:crypto";
import type { Server } from "node:http";
import { invalidRequest } from "@nodeloom/kernel";
import { errorReply } from "./errors";

/** Answers what is not even HTTP in the form of every other error, where the connection still allows it. */
export const answerMalformed = (server: Server): void => {
  server.on("clientError", (_error, socket) => {
    if (!socket.writable) return void socket.destroy();
    const { status, body } = errorReply(invalidRequest([{ path: "", message: "this is not a valid HTTP request" }]));
    const text = JSON.stringify(body);
    const head = [
      `HTTP/1.1 ${status} Bad Request`,
      "Content-Type: application/json; charset=utf-8",
      `Content-Length: ${Buffer.byteLength(text)}`,
      `X-Request-Id: ${randomUUID()}`,
      "Connection: close",
    ];
    socket.end(`${head.join("\r\n")}\r\n\r\n${text}`);
  });
};
