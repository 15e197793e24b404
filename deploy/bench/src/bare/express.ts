import type { Server } from "node:http";
import type { AddressInfo } from "node:net";
import express from "express";
import { answerParent } from "../child";

/** Serves `body` as JSON at `path`. */
export interface ExpressQuestion {
  path: string;
  body: object;
}
export interface ExpressAnswer {
  url: string;
}

let server: Server | undefined;

const serve = ({ path, body }: ExpressQuestion): Promise<ExpressAnswer> =>
  new Promise((resolve, reject) => {
    const app = express();
    app.get(path, (_request, response) => {
      response.json(body);
    });
    server = app.listen(0, "127.0.0.1", (error?: Error) => {
      if (error) reject(error);
      else resolve({ url: `http://127.0.0.1:${(server?.address() as AddressInfo).port}` });
    });
  });

/** Baseline: a bare Express handler that answers JSON. */
answerParent(serve, async () => {
  server?.closeAllConnections();
  server?.close();
});
