/**
 * `npm run drill fuzz`: runs every operation of the OpenAPI document through every check of schemathesis, as pro, business and admin, by
 * key, and by session if the operation requires one. It starts a platform, or uses a running one (`--base-url`), on which it doesn't change
 * other accounts, models and tiers.
 */
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { parseArgs } from "node:util";
import { pythonEnvironment } from "../../local/build/python.mjs";
import { startTestServers, stopTestServers } from "../../local/servers/test-servers.mjs";
import { operationsOf, WAYS } from "./config.mjs";
import { runPass } from "./pass.mjs";

export const DRILL = {
  sentence: "sends generated requests to every operation of the OpenAPI document, as several callers",
  minutes: 8,
  builds: true,
};

const require = createRequire(import.meta.url);
require("../support/typescript.cjs");
/** @type {typeof import("./callers.ts")} */
const { createCallers } = require("./callers.ts");
/** @type {typeof import("../../../test-support/platform.ts")} */
const { startPlatform } = require("../../../test-support/platform.ts");
/** @type {typeof import("../../../test-support/client.ts")} */
const { clientOf } = require("../../../test-support/client.ts");

const REQUIREMENTS = new URL("requirements.txt", import.meta.url);
const LOCAL = ".nodeloom/local.json";
const USAGE = `Fuzzes a deployment through its OpenAPI document. Exits with 0 when nothing was found.

  --base-url URL     a running deployment; default: one of its own, thrown away afterwards
  --accounts FILE    JSON with accounts.admin { email, password } of that deployment; default: ${LOCAL}
  --caller NAME      pro, business or admin; default: each in turn
  --seconds N        for each of a caller's passes (by key, by session); default 60
  --examples N       generated requests per operation and phase; default 30
  --seed N           repeats a pass
  --verbose          print all that schemathesis says, not only where something was found
`;

const say = (/** @type {string} */ line) => process.stdout.write(`${line}\n`);

const { values } = parseArgs({
  options: {
    "base-url": { type: "string" },
    accounts: { type: "string", default: LOCAL },
    caller: { type: "string" },
    seconds: { type: "string", default: "60" },
    examples: { type: "string", default: "30" },
    seed: { type: "string" },
    verbose: { type: "boolean", default: false },
    help: { type: "boolean", default: false },
  },
});

/** Starts a platform without limits per address, so that rejected credentials always get the same response. */
const startOwn = async () => {
  await startTestServers();
  const platform = await startPlatform({
    env: { ANONYMOUS_RATE_LIMIT: "1000000", REGISTRATION_RATE_LIMIT: "1000000", LOG_LEVEL: "error" },
  });
  const stop = async () => {
    await platform.stop();
    await stopTestServers();
  };
  return { target: platform, isOwn: true, stop };
};

const takeRunning = (/** @type {string} */ baseUrl) => {
  const { admin } = JSON.parse(readFileSync(values.accounts, "utf8")).accounts;
  return { target: { baseUrl: baseUrl.replace(/\/+$/, ""), admin }, isOwn: false, stop: async () => undefined };
};

/** @param {boolean} passed @param {string} what */
const verdict = (passed, what) => `${passed ? "ok  " : "FAIL"} ${what}`;

/** Checks after the fuzzing. @param {{ baseUrl: string, admin: { email: string, password: string } }} target */
const checkAfterwards = async (target) => {
  const { status } = await fetch(`${target.baseUrl}/readyz`);
  const { body } = await clientOf(target).asAdmin("GET", "/api/admin/ledger/check");
  const passed = status === 200 && body.ok === true;
  const what = `afterwards: everything is ready (${status}), accounts agree with their ledgers (${JSON.stringify(body)})`;
  return { passed, line: verdict(passed, what) };
};

/** @param {any} document @param {boolean} isOwn */
const exclusions = (document, isOwn) => {
  const excluded = new Map([["adminImportModel", "asks a provider's own server for the model"]]);
  if (isOwn) return excluded;
  const writes = operationsOf(document).filter(({ path, method }) => path.startsWith("/api/admin/") && method !== "get");
  for (const { operationId } of writes) excluded.set(operationId, "would change accounts, models and tiers that are in use here");
  return excluded;
};

const main = async () => {
  const python = await pythonEnvironment({ name: "schemathesis", requirements: readFileSync(REQUIREMENTS, "utf8"), progress: say });
  const { target, isOwn, stop } = await (values["base-url"] === undefined ? startOwn() : takeRunning(values["base-url"]));
  try {
    const document = await (await fetch(`${target.baseUrl}/api/openapi.json`)).json();
    const excluded = exclusions(document, isOwn);
    for (const [operationId, reason] of excluded) say(`skip ${operationId}: ${reason}`);
    const callers = (await createCallers(target)).filter(({ name }) => values.caller === undefined || values.caller === name);
    if (callers.length === 0) throw new Error(`there is no caller ${values.caller}: pro, business or admin`);
    const results = [];
    for (const caller of callers) {
      for (const by of WAYS) {
        // A pass with a single operation ends when each case was tried once.
        const seconds = by === "ending session" ? undefined : Number(values.seconds);
        const bounds = { seconds, examples: Number(values.examples), seed: values.seed };
        const pass = { python, baseUrl: target.baseUrl, document, caller, by, excluded: new Set(excluded.keys()), ...bounds };
        const { passed, summary, output } = await runPass(pass);
        if (!passed || values.verbose) say(output);
        const line = verdict(passed, `${caller.name} by ${by}: ${summary}`);
        say(line);
        results.push({ passed, line });
      }
    }
    results.push(await checkAfterwards(target));
    const failed = results.filter(({ passed }) => !passed).length;
    say(`\n${results.map(({ line }) => line).join("\n")}\n\n${results.length - failed} passed, ${failed} failed`);
    return failed === 0;
  } finally {
    await stop();
  }
};

if (values.help) say(USAGE);
else process.exit((await main()) ? 0 : 1);
