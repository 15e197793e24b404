/** Preloaded into the platform's processes: on SIGUSR2, each thread writes the functions called since the previous signal. */
import { writeFileSync } from "node:fs";
import { Session, type Profiler } from "node:inspector";
import { join } from "node:path";
import { BroadcastChannel, isMainThread, threadId } from "node:worker_threads";

export interface CallOffsets {
  url: string;
  /** Offsets of called functions. */
  offsets: number[];
}

/** Excludes libraries. */
const OURS = /\/(?:dist|src)\/(?!.*node_modules)|workflow-bundle/;

const session = new Session();
session.connect();
session.post("Profiler.enable");
session.post("Profiler.startPreciseCoverage", { callCount: true, detailed: false });

const calledIn = ({ url, functions }: Profiler.ScriptCoverage): CallOffsets => ({
  url,
  offsets: functions.flatMap(({ ranges: [range] }) => (range && range.count > 0 && range.startOffset > 0 ? [range.startOffset] : [])),
});

const write = (): void =>
  session.post("Profiler.takePreciseCoverage", (error, coverage) => {
    if (error) throw error;
    const called = coverage.result.filter(({ url }) => OURS.test(url)).map(calledIn);
    const file = join(process.env.ENTERED_DIR!, `${process.pid}-${threadId}.json`);
    writeFileSync(file, JSON.stringify(called.filter(({ offsets }) => offsets.length > 0)));
  });

const threads = new BroadcastChannel("entered");
threads.onmessage = write;
threads.unref();
if (isMainThread) {
  process.on("SIGUSR2", () => {
    threads.postMessage(undefined);
    write();
  });
}
