/**
 * `npm run drill mcp`: runs the conformance suite of the Model Context Protocol against a platform with the suite's fixtures, and lets an
 * agent build a workflow from nothing with the official client.
 */
import { execFile } from "node:child_process";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { readLocal, startPlatform } from "../support/platform.mjs";
import { runDrill } from "../support/run-drill.mjs";
import { startFront } from "./front.mjs";
import { findNode, installPackages } from "./software.mjs";
import { NOT_APPLICABLE, runSuite } from "./suite.mjs";

export const DRILL = {
  sentence: "runs the conformance suite of the Model Context Protocol, and an agent builds a workflow from nothing",
  minutes: 2,
};

const BUILDER = fileURLToPath(new URL("builder.mjs", import.meta.url));
const AGENT_MS = 240_000;
/** Scenarios of the pinned suite. Fewer results mean that it didn't end. */
const SCENARIOS = 32;

/** @param {import("../support/run-drill.mjs").Drill} drill @param {Parameters<typeof runSuite>[0]} options */
const checkSuite = async ({ say, check }, options) => {
  const results = await runSuite(options);
  check(["every scenario of the suite ran", results.size === SCENARIOS, `${results.size} of ${SCENARIOS}`]);
  for (const [scenario, { passes, detail }] of results) {
    const reason = NOT_APPLICABLE[scenario];
    if (reason === undefined) check([scenario, passes, detail || "conforms"]);
    else check([`${scenario} doesn't apply`, !passes, passes ? "it passes now: remove it from the list" : reason]);
  }
  say(`${results.size} scenarios, ${Object.keys(NOT_APPLICABLE).length} of which don't apply`);
};

/** @param {import("../support/run-drill.mjs").Drill} drill @param {{ node: string, packages: string, baseUrl: string, key: string }} options */
const checkBuilder = async ({ check }, { node, packages, baseUrl, key }) => {
  const { stdout } = await promisify(execFile)(node, [BUILDER, `${baseUrl}/mcp`, key, packages], { timeout: AGENT_MS });
  const { first, stale, mended, checked, tried, reused, published, ran, ...report } = JSON.parse(stdout);
  const [issue] = first.issues;
  check(
    [
      "the agent finds prompts, a schema, kinds and models",
      report.prompts.length > 3 && report.schema === "object" && report.models > 0,
      report.kinds.join(", "),
    ],
    [
      "a wrong model is a problem of its node",
      first.valid === false && issue.nodeId === "picture" && issue.code === "MODEL_UNKNOWN",
      issue.message,
    ],
    ["an old revision is refused", stale.code === "PRECONDITION_FAILED" && stale.revision === first.revision, stale.error],
    ["the mended draft has a price", mended.valid && checked.valid && mended.maxCreditCost > 0, `${mended.maxCreditCost} credits`],
    [
      "a node runs without the rest",
      tried.status === "completed" && tried.outputs.image !== undefined && tried.cost > 0,
      `${tried.cost} credits`,
    ],
    ["running it again reuses its output", reused.cost === 0 && reused.reusedFrom === tried.executionId, `${reused.cost} credits`],
    ["the published version runs", published.version === 1 && ran.status === "completed" && ran.result.images !== undefined, ran.status],
  );
};

await runDrill("mcp", async (drill) => {
  const { say, atEnd } = drill;
  const [node, packages] = [await findNode(say), installPackages(say)];
  const platform = await startPlatform({ MCP_FIXTURES: "true" });
  atEnd(platform.stop);
  const { baseUrl, accounts } = readLocal();
  const key = accounts.enterprise.apiKey;
  const front = await startFront(baseUrl, key);
  atEnd(front.close);
  say("the conformance suite runs");
  await checkSuite(drill, { node, packages, url: front.url });
  say("the agent builds");
  await checkBuilder(drill, { node, packages, baseUrl, key });
});
