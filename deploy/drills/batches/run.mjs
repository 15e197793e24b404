/**
 * `npm run drill batches`: runs batches of 1,000 rows on a whole local platform. It compares them with separate runs of the same workflow
 * and measures their effect on another user; then it kills the services that run them. `-- kills` or `-- measure` runs one part. The drill
 * affects only processes that it started.
 */
import { once } from "node:events";
import { createServer } from "node:http";
import { createApi } from "../support/api.mjs";
import { readLocal, startPlatform } from "../support/platform.mjs";
import { createReceiver } from "../support/receiver.mjs";
import { runDrill } from "../support/run-drill.mjs";
import { kill } from "./kills.mjs";
import { measure } from "./measure.mjs";

export const DRILL = {
  sentence: "compares batches of 1,000 rows with separate runs, then kills the process that works on one: every row must end once",
  minutes: 5,
};

const CREDITS = 5_000;
/** Response of each HTTP row: large enough that 1,000 of them exceed a process's memory budget. */
const ANSWER = JSON.stringify({ text: "warp and weft ".repeat(1_200) });
const PARTS = process.argv.slice(2);
const isAsked = (/** @type {string} */ part) => PARTS.length === 0 || PARTS.includes(part);

await runDrill("batches", async ({ say, check, atEnd }) => {
  const target = createServer((_, response) => void response.setHeader("content-type", "application/json").end(ANSWER)).listen(
    0,
    "127.0.0.1",
  );
  await once(target, "listening");
  atEnd(() => target.close());
  const receiver = await createReceiver();
  atEnd(() => receiver.close());
  const { port } = /** @type {import("node:net").AddressInfo} */ (target.address());
  const address = `127.0.0.1:${port}`;
  const platform = await startPlatform({ EGRESS_ALLOW: `${address},${receiver.address}` });
  atEnd(platform.stop);
  const api = createApi(() => readLocal().baseUrl);
  const { accounts } = readLocal();
  const user = await api.enterprise(accounts, receiver.url);
  const adminKey = accounts.admin.apiKey;
  await api.grant(accounts, user.userId, CREDITS);
  const caller = { api, key: user.key };
  if (isAsked("measure"))
    await measure({ caller, other: { api, key: accounts.business.apiKey }, target: `http://${address}/`, say, check });
  if (isAsked("kills")) await kill({ caller, cookie: user.cookie, adminKey, say, check });
});
