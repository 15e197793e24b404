import { setMaxListeners } from "node:events";
import { writeFile } from "node:fs/promises";
import { cpus, loadavg } from "node:os";
import { measureAgainst } from "./costs/against";
import { readArguments, USAGE, type Arguments } from "./arguments";
import { createApiClient } from "./http";
import type { Metric } from "./metrics";
import { keyOf, usePlatform, type LocalPlatform } from "./platform";
import { renderTable, renderVerdicts, reportJson } from "./report";
import { SCENARIOS, type Bench } from "./scenarios";
import { measureTelemetry } from "./costs/telemetry";
import { startTarget, type Target } from "./target";

/** Deadline of a whole benchmark. */
const DEADLINE_MS = 300_000;
/** Deadline for two platforms, which includes installing and building another commit. */
const TWO_DEADLINE_MS = 1_200_000;
/** Credits for all video runs of one benchmark. */
const CREDITS = 10_000;
const USAGE_EXIT_CODE = 2;

const print = (text: string): void => void process.stdout.write(`${text}\n`);

interface Failure {
  scenario: string;
  reason: string;
}

const reasonOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));

/** Adds credits before each benchmark, so that earlier ones don't exhaust the account. */
const topUp = async (local: LocalPlatform, signal: AbortSignal): Promise<void> => {
  const admin = createApiClient(local.baseUrl, keyOf(local, "admin"), signal);
  const userId = local.accounts.enterprise?.userId ?? "";
  try {
    await admin.expect(200, "POST", `/api/admin/users/${userId}/credits`, { kind: "topup", amount: CREDITS, note: "bench" });
  } finally {
    admin.close();
  }
};

/** Describes the machine, on which the figures depend. Both sides share it, and targets in milliseconds assume it. */
const describeMachine = () => ({
  node: process.version,
  cpus: cpus().length,
  model: cpus()[0]?.model,
  loadAverage: Number(loadavg()[0]?.toFixed(1)),
});
type Machine = ReturnType<typeof describeMachine>;

/** Measures scenarios one after another. If one fails, the others still run. */
const measureAll = async ({ extent, only }: Arguments, local: LocalPlatform, target: string, signal: AbortSignal) => {
  const key = keyOf(local, "enterprise");
  const api = createApiClient(local.baseUrl, key, signal);
  const bench: Bench = { local, api, key, extent, target, signal, note: (text) => print(`    ${text}`) };
  const metrics: Metric[] = [];
  const failures: Failure[] = [];
  try {
    await topUp(local, signal);
    for (const letter of only) {
      const scenario = SCENARIOS[letter]!;
      print(`(${letter}) ${scenario.title}`);
      try {
        metrics.push(...(await scenario.measure(bench)));
      } catch (error) {
        failures.push({ scenario: letter, reason: reasonOf(signal.aborted ? signal.reason : error) });
        if (signal.aborted) break;
      }
    }
  } finally {
    api.close();
  }
  return { metrics, failures };
};

interface Results {
  machine: Machine;
  metrics: readonly Metric[];
  failures: readonly Failure[];
}

const compare = async ({ against, extent }: Arguments, signal: AbortSignal) => {
  const note = (text: string): void => print(`    ${text}`);
  try {
    const measuring = against === undefined ? measureTelemetry(extent, signal, note) : measureAgainst(against, extent, signal, note);
    return { metrics: await measuring, failures: [] };
  } catch (error) {
    return { metrics: [], failures: [{ scenario: "cost", reason: reasonOf(signal.aborted ? signal.reason : error) }] };
  }
};

type Stop = () => void;

/** Aborts everything after a time. The returned function cancels the timer. */
const limitTime = (stopping: AbortController, ms: number): Stop => {
  const timer = setTimeout(() => stopping.abort(new Error(`not done after ${ms / 1_000} s`)), ms);
  return () => clearTimeout(timer);
};

const measurePlatform = async (options: Arguments, stopping: AbortController) => {
  const target = await startTarget();
  try {
    return await measureFor(target, options, stopping);
  } finally {
    target.stop();
  }
};

const measureFor = async (target: Target, options: Arguments, stopping: AbortController) => {
  const platform = await usePlatform(stopping.signal, { EGRESS_ALLOW: target.host });
  try {
    print(platform.found ? `Measuring the platform at ${platform.local.baseUrl}` : "Started a local platform to measure");
    const endLimit = limitTime(stopping, DEADLINE_MS);
    return await measureAll(options, platform.local, target.url, stopping.signal).finally(endLimit);
  } finally {
    await platform.stop();
  }
};

const measureTwo = (options: Arguments, stopping: AbortController) => {
  const endLimit = limitTime(stopping, TWO_DEADLINE_MS);
  return compare(options, stopping.signal).finally(endLimit);
};

const report = async ({ machine, metrics, failures }: Results, jsonFile: string | undefined): Promise<void> => {
  print("");
  if (metrics.length > 0) print(`${renderTable(metrics)}\n\n${renderVerdicts(metrics)}`);
  for (const { scenario, reason } of failures) print(`  FAILED (${scenario}): ${reason}`);
  if (jsonFile === undefined) return;
  const content = { at: new Date().toISOString(), machine, metrics: reportJson(metrics), failures };
  await writeFile(jsonFile, `${JSON.stringify(content, null, 2)}\n`);
};

const main = async (): Promise<number> => {
  let options: Arguments;
  try {
    options = readArguments(process.argv.slice(2), Object.keys(SCENARIOS));
  } catch (error) {
    process.stderr.write(`${reasonOf(error)}\n${USAGE}\n`);
    return USAGE_EXIT_CODE;
  }
  const stopping = new AbortController();
  // Every open request listens to the signal.
  setMaxListeners(0, stopping.signal);
  for (const name of ["SIGINT", "SIGTERM"] as const) process.on(name, () => stopping.abort(new Error(`stopped by ${name}`)));
  const machine = describeMachine();
  const busy = machine.loadAverage > machine.cpus / 2 ? ": others are busy here, and it will show" : "";
  print(`${machine.cpus} cores, load average ${machine.loadAverage}${busy}`);
  const measured = await (options.against === undefined && !options.telemetry
    ? measurePlatform(options, stopping)
    : measureTwo(options, stopping));
  await report({ machine, ...measured }, options.jsonFile);
  return measured.failures.length > 0 ? 1 : 0;
};

main().then(
  (code) => (process.exitCode = code),
  (error: unknown) => {
    process.stderr.write(`${reasonOf(error)}\n`);
    process.exitCode = 1;
  },
);
