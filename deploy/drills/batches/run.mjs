/**
 * `npm run drill batches`: runs batches of 1,000 rows on a whole local platform. It compares them with separate runs of the same workflow
 * and measures their effect on another user; then it kills the services that run them. `-- kills` or `-- measure` runs one part. The drill
 * affects only processes that it started.
 */
import { runDrill } from "../support/run-drill.mjs";
import { serve } from "../support/serve.mjs";
import { setStage } from "../support/stage.mjs";
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
  const target = await serve((_, response) => void response.setHeader("content-type", "application/json").end(ANSWER));
  atEnd(target.close);
  const { api, accounts, adminKey, user } = await setStage({ atEnd }, { allow: [target.address] });
  await api.grant(accounts, user.userId, CREDITS);
  const caller = { api, key: user.key };
  if (isAsked("measure")) await measure({ caller, other: { api, key: accounts.business.apiKey }, target: `${target.url}/`, say, check });
  if (isAsked("kills")) await kill({ caller, cookie: user.cookie, adminKey, say, check });
});
