import { parseArgs } from "node:util";
import { PICTURE } from "../../../gateway/test/graphs/picture";
import { prepare, type Answer, type Call } from "../../../gateway/test/graphs/judge";
import { chosenRange, judgeMany, type Tally } from "../../../gateway/test/graphs/many";
import { startOrigin } from "../../../gateway/test/graphs/origin";
import { keyOf, launch, ROOT, type LocalPlatform } from "../../bench/src/platform";

export const DRILL = {
  sentence: "runs 5,000 random graphs of every node kind: each must end like a reference interpreter, for at most its quote",
  minutes: 25,
  builds: true,
};

/** `npm run drill graphs`: random graphs of all node kinds on a separate platform, compared with a small reference interpreter. */

const USAGE = `Usage: npm run drill -- graphs [--graphs 5000] [--parallel 6]
  --graphs    random graphs that are run
  --parallel  graphs at a time
GRAPHS_SEED and GRAPHS_ONLY, which a failure names, judge its graph again.`;
const CREDITS_PER_GRAPH = 20;
const SAID_EVERY = 250;

const print = (text: string): void => void process.stdout.write(`${text}\n`);

const callAs =
  (baseUrl: string, key: string): Call =>
  async (method, path, body, headers = {}): Promise<Answer> => {
    const isFile = Buffer.isBuffer(body);
    const response = await fetch(baseUrl + path, {
      method,
      headers: { "x-api-key": key, ...(isFile || body === undefined ? {} : { "content-type": "application/json" }), ...headers },
      ...(body === undefined ? {} : { body: isFile ? new Uint8Array(body) : JSON.stringify(body) }),
    });
    const text = await response.text();
    return { status: response.status, headers: response.headers, body: text === "" ? {} : (JSON.parse(text) as Answer["body"]) };
  };

const judgeAll = async (local: LocalPlatform, origin: string, graphs: number, parallel: number): Promise<Tally> => {
  const asAdmin = callAs(local.baseUrl, keyOf(local, "admin"));
  const call = callAs(local.baseUrl, keyOf(local, "enterprise"));
  const { userId } = local.accounts.enterprise!;
  const credits = { kind: "topup", amount: graphs * CREDITS_PER_GRAPH, note: "random graphs" };
  const { status } = await asAdmin("POST", `/api/admin/users/${userId}/credits`, credits);
  if (status !== 200 && status !== 201) throw new Error(`no credits: ${status}`);
  const { body: uploaded } = await call("POST", "/api/media", PICTURE, { "content-type": "image/png" });
  const names = await prepare(call, uploaded.id as string);
  const { seed, only } = chosenRange(process.env);
  print(`${graphs} graphs from GRAPHS_SEED=${seed}, ${parallel} at a time`);
  const startedAt = Date.now();
  const onJudged = (judged: number): void => {
    if (judged % SAID_EVERY === 0) print(`  ${judged} graphs after ${Math.round((Date.now() - startedAt) / 1_000)} s`);
  };
  const tally = await judgeMany({ call, names, origin, seed, graphs, parallel, only, onJudged });
  const ledger = (await asAdmin("GET", "/api/admin/ledger/check")).body;
  if (ledger.ok !== true) tally.failures.push(`the ledger check: ${JSON.stringify(ledger)}`);
  return tally;
};

const main = async (): Promise<number> => {
  const { values } = parseArgs({
    options: { graphs: { type: "string", default: "5000" }, parallel: { type: "string", default: "6" }, help: { type: "boolean" } },
  });
  if (values.help) {
    print(USAGE);
    return 0;
  }
  const origin = await startOrigin();
  const stopping = new AbortController();
  process.once("SIGINT", () => stopping.abort());
  const platform = await launch(ROOT, stopping.signal, { EGRESS_ALLOW: origin.address });
  try {
    const { ends, calls, failures } = await judgeAll(platform.local, origin.address, Number(values.graphs), Number(values.parallel));
    print(`  completed ${ends.completed}, failed as they must ${ends.failed}, refused by their quotes ${ends.refused}`);
    print(`  too large to compare ${ends.unsuitable}, calls ${calls}`);
    for (const failure of failures) print(`\n${failure}`);
    print(`\ngraphs: ${failures.length === 0 ? "passed" : "FAILED"}`);
    return failures.length === 0 ? 0 : 1;
  } finally {
    await platform.stop();
    await origin.close();
  }
};

main().then(
  (code) => (process.exitCode = code),
  (error: unknown) => {
    process.stderr.write(`${(error as Error).stack ?? String(error)}\n`);
    process.exitCode = 1;
  },
);
