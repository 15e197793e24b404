import { ASYNC_DEMO, DEMO } from "../seed/workflows.mjs";
import { answersHttp } from "../servers/probe.mjs";

/** @param {string} url @param {string} key @param {unknown} body */
const post = (url, key, body) =>
  `curl -s -X POST '${url}' -H 'x-api-key: ${key}' -H 'content-type: application/json' -d '${JSON.stringify(body)}'`;

/** @param {readonly string[]} missing */
const notReady = (missing) => [...(missing.includes("ffmpeg") ? ["operations on videos and audio"] : []), "local models"].join(", ");

/**
 * Prints addresses and first steps.
 * @param {{ progress: import("../run/progress.mjs").Progress, local: import("./local-file.mjs").Local, seconds: number, staying: boolean, consoleUrl: string, missing: string[] }} options
 */
export const printWelcome = async ({ progress, local, seconds, staying, consoleUrl, missing }) => {
  const { baseUrl, temporalUiUrl, tracesUrl, demoTraceUrl, accounts } = local;
  const key = accounts.pro?.apiKey ?? "";
  const docsUrl = `${baseUrl}/docs`;
  progress.line(`\nNodeloom is up after ${seconds.toFixed(1)} s\n`);
  progress.line(`  Console        ${consoleUrl}   (sign in as ${accounts.pro?.email}, password ${accounts.pro?.password})`);
  progress.line(`  API            ${baseUrl}/api`);
  if (await answersHttp(docsUrl)) progress.line(`  Documentation  ${docsUrl}`);
  if (temporalUiUrl !== undefined)
    progress.line(`  Temporal UI    ${temporalUiUrl}   (for administrators: sign in to the console as ${accounts.admin?.email})`);
  if (tracesUrl !== undefined) progress.line(`  Traces         ${tracesUrl}   (the demo run's: ${demoTraceUrl})`);
  progress.line(`  Accounts       .nodeloom/local.json`);
  if (missing.length > 0) progress.line(`  Not ready yet  ${notReady(missing)}: still downloading. Until then, their runs return 503`);
  progress.line(`\nTry it (as ${accounts.pro?.email}):\n`);
  progress.line(`  curl -s '${baseUrl}/api/whoami' -H 'x-api-key: ${key}'`);
  progress.line(`  ${post(`${baseUrl}/api/workflows/${DEMO.slug}/run`, key, { inputs: DEMO.inputs })}`);
  progress.line(`  ${post(`${baseUrl}/api/workflows/${ASYNC_DEMO.slug}/run?async=true`, key, { inputs: ASYNC_DEMO.inputs })}`);
  if (staying) progress.line("\nCtrl-C stops it.\n");
};
