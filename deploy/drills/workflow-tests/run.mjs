/**
 * `npm run drill workflow-tests`: saves workflows with tests, edits them by a seed, and runs their tests on each edit. Regressions must
 * fail, harmless edits must pass, and edits that change no call must cost nothing in the ledger. `-- <seed>` repeats a run, and
 * `-- <seed> regressions` or `-- <seed> harmless` runs one half of it.
 */
import { createApi, expecting } from "../support/api.mjs";
import { readLocal, startPlatform } from "../support/platform.mjs";
import { runDrill } from "../support/run-drill.mjs";
import { measure } from "./measure.mjs";

export const DRILL = {
  sentence: "edits six workflows by a seed: their tests must stop 27 of 30 regressions, and at most 10 of 200 harmless edits",
  minutes: 5,
};

const CREDITS = 5_000;
const COUNTS = { regressions: 30, harmless: 200 };
const MOST_SEED = 2 ** 31;
const [, , seedText, half] = process.argv;
const seed = Number(seedText ?? Math.floor(Math.random() * MOST_SEED));
const counts = {
  regressions: half === "harmless" ? 0 : COUNTS.regressions,
  harmless: half === "regressions" ? 0 : COUNTS.harmless,
};

await runDrill("workflow-tests", async ({ say, check, atEnd }) => {
  // A local model reads the text in pictures.
  const platform = await startPlatform({ LOCAL_MODELS: "on", NODELOOM_HOSTING: "shared" });
  atEnd(platform.stop);
  const api = createApi(() => readLocal().baseUrl);
  const expected = expecting(api.call);
  const { accounts } = readLocal();
  const { apiKey: key, userId } = accounts.enterprise;
  await api.grant(accounts, userId, CREDITS);
  const cookie = await api.signIn(accounts.enterprise);
  await measure({ expected, key, cookie, seed, counts, say, check });
});
