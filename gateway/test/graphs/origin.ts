import { startRecorder, type Recorder } from "../../../test-support/recorder";

/** Server that http-request nodes of random graphs call. Its response depends only on the request. */

/** Response to `GET /items/<count>?x=<text>`. */
export const answerTo = (url: URL): { count: number; x: string; items: string[] } => {
  const count = Number(url.pathname.split("/").at(-1));
  const x = url.searchParams.get("x") ?? "";
  return { count, x, items: Array.from({ length: count }, (_, index) => `${index} of ${count}`) };
};

export const startOrigin = (port = 0): Promise<Recorder> =>
  startRecorder((response, { path }) => {
    response.setHeader("content-type", "application/json").end(JSON.stringify(answerTo(new URL(path, "http://origin.test"))));
  }, port);
