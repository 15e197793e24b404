import { connect } from "node:net";

export interface Exchange {
  answer: string;
  /** True if the server ended the connection. */
  isClosed: boolean;
}

/** Sends bytes over a new connection. Reads until the response has a body, the connection ends or the time is over. */
export const speak = (baseUrl: string, bytes: string, waitMs = 60_000): Promise<Exchange> =>
  new Promise((resolve) => {
    const { hostname, port } = new URL(baseUrl);
    const socket = connect(Number(port), hostname);
    let answer = "";
    const end = (isClosed: boolean): void => {
      clearTimeout(timer);
      socket.destroy();
      resolve({ answer, isClosed });
    };
    const timer = setTimeout(() => end(false), waitMs);
    socket.setEncoding("utf8");
    socket.on("data", (text: string) => {
      answer += text;
      if (answer.includes("\r\n\r\n{")) end(false);
    });
    socket.on("error", () => end(true));
    socket.on("close", () => end(true));
    socket.write(bytes);
  });

/** Head of a request with the given headers. */
export const headOf = (method: string, path: string, headers: Record<string, string>): string =>
  `${method} ${path} HTTP/1.1\r\n${Object.entries({ host: "nodeloom", ...headers })
    .map(([name, value]) => `${name}: ${value}\r\n`)
    .join("")}\r\n`;
