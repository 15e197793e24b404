import { readFileSync } from "node:fs";
import { parseArgs } from "node:util";
import type { Accounts } from "../conformance/context";
import { CASES } from "./cases";
import { runAbuse, type Finding } from "./runner";

/**
 * `npm run abuse`: does to the platform that `npm start` runs here what its users must not be able to hurt it by. Per attack at most
 * 300 ms of CPU and 64 MB, another user's p95 at most doubled meanwhile, no process restarted.
 */

const LOCAL = ".nodeloom/local.json";
const MAX_CPU_MS = 300;
const MAX_GROWN_MEGABYTES = 64;
const MAX_SLOWDOWN = 2;
/** Below this a request of another user counts as quick, whatever it was before. */
const QUICK_MS = 50;
const DEFAULT_ATTACKS = 20;
const SERVICES = ["gateway", "identity", "workflows", "models", "billing", "usage", "media", "executions"];

interface LocalFile {
  baseUrl: string;
  accounts: Accounts;
  /** By service; several share a process, and some may not run. */
  pids: Record<string, number | null>;
}
const readLocal = (): LocalFile => JSON.parse(readFileSync(LOCAL, "utf8")) as LocalFile;

const out = (text: string): void => void process.stdout.write(`${text}\n`);
const figure = (value: number | undefined, unit: string): string => (value === undefined ? "–" : `${value.toFixed(0)} ${unit}`);

const faultsOf = ({ failure, cpuMsPerAttack = 0, grownMegabytes = 0, quietP95Ms, p95Ms, refusedOthers }: Finding): string[] => [
  ...(failure === undefined ? [] : [failure]),
  ...(cpuMsPerAttack > MAX_CPU_MS ? [`more than ${MAX_CPU_MS} ms of CPU for each attack`] : []),
  ...(grownMegabytes > MAX_GROWN_MEGABYTES ? [`more than ${MAX_GROWN_MEGABYTES} MB`] : []),
  ...(p95Ms > Math.max(QUICK_MS, quietP95Ms * MAX_SLOWDOWN) ? [`another user's p95 rose from ${figure(quietP95Ms, "ms")}`] : []),
  ...(refusedOthers > 0 ? [`${refusedOthers} requests of another user failed`] : []),
];

const main = async (): Promise<number> => {
  const { values } = parseArgs({ options: { only: { type: "string" }, attacks: { type: "string" } } });
  const { baseUrl, accounts, pids } = readLocal();
  const own = Object.entries(pids).filter((entry): entry is [string, number] => SERVICES.includes(entry[0]) && entry[1] !== null);
  const chosen = CASES.filter(({ id }) => values.only === undefined || id.startsWith(values.only));
  let faults = 0;
  await runAbuse(chosen, {
    baseUrl,
    accounts,
    attacks: Number(values.attacks ?? DEFAULT_ATTACKS),
    pids: [...new Set(own.map(([, pid]) => pid))],
    onFinding: (finding) => {
      const found = faultsOf(finding);
      faults += found.length;
      const { case: one, cpuMsPerAttack, grownMegabytes, p95Ms } = finding;
      out(`${found.length === 0 ? "ok  " : "FAIL"} ${one.id}: ${one.title}`);
      out(`     ${figure(cpuMsPerAttack, "ms CPU")}, ${figure(grownMegabytes, "MB")}, another user's p95 ${figure(p95Ms, "ms")}`);
      for (const fault of found) out(`     ${fault}`);
    },
  });
  const restarted = own.filter(([name, pid]) => readLocal().pids[name] !== pid).map(([name]) => name);
  for (const name of restarted) out(`FAIL ${name} was restarted`);
  return faults + restarted.length > 0 ? 1 : 0;
};

main().then(
  (code) => process.exit(code),
  (error: unknown) => {
    process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`);
    process.exit(2);
  },
);
