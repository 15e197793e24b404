import { readFileSync } from "node:fs";
import { parseArgs } from "node:util";
import type { Accounts } from "../../../gateway/test/conformance/context";
import { CASES } from "../../../gateway/test/abuse/cases";
import { SERVICES } from "../../services.cjs";
import { runAbuse, type Finding } from "../../../gateway/test/abuse/runner";

export const DRILL = {
  sentence: "attacks the platform that runs here as a hostile user would, and measures what that costs it",
  minutes: 6,
};

/**
 * `npm run drill abuse`: attacks the platform that `npm start` runs here. Limits per hostile request: 300 ms of the platform's CPU and 64
 * MB, another user's p95 at most doubled, and no process restarted.
 */

const LOCAL = ".nodeloom/local.json";
const MAX_CPU_MS = 300;
const MAX_GROWN_MEGABYTES = 64;
const MAX_SLOWDOWN = 2;
/** Faster requests of another user always pass. */
const QUICK_MS = 50;
const DEFAULT_ATTACKS = 10;
/** Excludes processes that replace third parties or run users' operations separately. */
const OWN = SERVICES.filter(({ host }) => host !== "sandbox").map(({ name }) => name);
const SERVERS = ["mongodb", "redis", "temporal"];

interface LocalFile {
  baseUrl: string;
  sandboxUrl: string;
  temporalUiUrl?: string;
  accounts: Accounts;
  /** Process ids by service. Several services can share a process, and a service can have none. */
  pids: Record<string, number | null>;
}
const readLocal = (): LocalFile => JSON.parse(readFileSync(LOCAL, "utf8")) as LocalFile;

const out = (text: string): void => void process.stdout.write(`${text}\n`);
const figure = (value: number | undefined): string => (value === undefined ? "–" : value.toFixed(value < 10 ? 1 : 0));

const isSlowed = ({ quietP95Ms, p95Ms }: Finding): boolean => p95Ms > Math.max(QUICK_MS, quietP95Ms * MAX_SLOWDOWN);

const faultsOf = (finding: Finding): string[] => {
  const { failure, cpuMsPerRequest = 0, grownMegabytes = 0, quietP95Ms, refusedOthers } = finding;
  return [
    ...(failure === undefined ? [] : [failure]),
    ...(cpuMsPerRequest > MAX_CPU_MS ? [`more than ${MAX_CPU_MS} ms of CPU for each request`] : []),
    ...(grownMegabytes > MAX_GROWN_MEGABYTES ? [`more than ${MAX_GROWN_MEGABYTES} MB`] : []),
    ...(isSlowed(finding) ? [`another user's p95 rose from ${figure(quietP95Ms)} ms`] : []),
    ...(refusedOthers > 0 ? [`${refusedOthers} requests of another user failed`] : []),
  ];
};

const COLUMNS = ["", "case", "CPU ms", "servers", "MB", "p95 quiet", "p95 ms", "what"];
const WIDTHS = [4, 26, 8, 8, 6, 10, 8, 0];
const row = (cells: readonly string[]): string =>
  cells
    .map((cell, index) => (index < 2 || index === cells.length - 1 ? cell.padEnd(WIDTHS[index]!) : cell.padStart(WIDTHS[index]!)))
    .join(" ");

/** Prints a table line and its faults. Returns the number of faults. */
const show = (finding: Finding): number => {
  const faults = faultsOf(finding);
  const { case: one, cpuMsPerRequest, serverCpuMsPerRequest, grownMegabytes, quietP95Ms, p95Ms } = finding;
  const figures = [cpuMsPerRequest, serverCpuMsPerRequest, grownMegabytes, quietP95Ms, p95Ms].map(figure);
  out(row([faults.length === 0 ? "ok" : "FAIL", one.id, ...figures, one.title]));
  for (const fault of faults) out(`     ${fault}`);
  return faults.length;
};

const pidsOf = ({ pids }: LocalFile, names: readonly string[]): number[] => [
  ...new Set(names.map((name) => pids[name]).filter((pid): pid is number => typeof pid === "number")),
];

const main = async (): Promise<number> => {
  const options = { only: { type: "string" }, attacks: { type: "string" }, gateways: { type: "string" } } as const;
  const { values } = parseArgs({ options });
  const local = readLocal();
  const chosenCases = CASES.filter(({ id }) => values.only === undefined || id.startsWith(values.only));
  let faults = 0;
  out(row(COLUMNS));
  await runAbuse(chosenCases, {
    ...local,
    // Addresses of additional gateways, separated by commas.
    moreGateways: values.gateways?.split(",") ?? [],
    attacks: Number(values.attacks ?? DEFAULT_ATTACKS),
    pids: { own: pidsOf(local, OWN), servers: pidsOf(local, SERVERS) },
    // A pause of a busy machine slows requests once, but an attack slows them each time.
    isUncertain: (finding) => isSlowed(finding) && faultsOf(finding).length === 1,
    onFinding: (finding) => (faults += show(finding)),
  });
  const now = readLocal().pids;
  const restarted = [...OWN, ...SERVERS].filter((name) => now[name] !== local.pids[name]);
  for (const name of restarted) out(`FAIL ${name} was restarted`);
  if (restarted.length === 0) out("no process was restarted");
  return faults + restarted.length > 0 ? 1 : 0;
};

main().then(
  (code) => process.exit(code),
  (error: unknown) => {
    process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`);
    process.exit(2);
  },
);
