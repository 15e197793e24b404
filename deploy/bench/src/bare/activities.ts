import { Agent, get } from "node:http";

const agent = new Agent({ keepAlive: true });

const fetchOnce = (url: string): Promise<string> =>
  new Promise((resolve, reject) => {
    get(url, { agent }, (response) => {
      let body = "";
      response.setEncoding("utf8").on("data", (chunk: string) => (body += chunk));
      response.on("end", () => resolve(body)).on("error", reject);
    }).on("error", reject);
  });

/** Activities of bare workflows; `step` returns at once. */
export const activities = { step: async (input: string): Promise<string> => input, fetchOnce };
export type BareActivities = typeof activities;
