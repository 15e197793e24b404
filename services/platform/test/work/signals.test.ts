import { execFile } from "node:child_process";
import { join } from "node:path";
import { promisify } from "node:util";
import { linkSignals } from "../../src/work/signals";

const forever = (signal: AbortSignal): Promise<never> =>
  new Promise((_resolve, reject) => signal.addEventListener("abort", () => reject(signal.reason as Error)));
const aborted = (reason: string): AbortSignal => AbortSignal.abort(new Error(reason));
const reasonOf = (signal: AbortSignal): string => (signal.reason as Error).message;

it("follows whichever parent aborts first, and reports it", async () => {
  const [process, run, other] = [new AbortController(), new AbortController(), new AbortController()];
  const one = forever(linkSignals(run.signal, process.signal).signal);
  const two = forever(linkSignals(other.signal, process.signal).signal);
  run.abort(new Error("cancelled"));
  await expect(one).rejects.toThrow("cancelled");
  process.abort(new Error("stopping"));
  await expect(two).rejects.toThrow("stopping");
});

it("starts aborted if a parent has aborted", () => {
  expect(reasonOf(linkSignals(new AbortController().signal, aborted("stopping")).signal)).toBe("stopping");
  expect(reasonOf(linkSignals(aborted("cancelled"), new AbortController().signal).signal)).toBe("cancelled");
});

it("releases its parents, and aborts only itself", () => {
  const process = new AbortController();
  const [over, endedSignal] = [linkSignals(process.signal), linkSignals(process.signal)];
  over.unlink();
  endedSignal.abort();
  expect([over, endedSignal].map(({ signal }) => signal.aborted)).toEqual([false, true]);
  expect(process.signal.aborted).toBe(false);
  process.abort();
  expect(over.signal.aborted).toBe(false);
});

it("lets any number follow one signal, without Node's warning about a leak", async () => {
  const code = `const { linkSignals } = require(${JSON.stringify(join(__dirname, "../../src/work/signals.ts"))});
    const parent = new AbortController();
    const links = Array.from({ length: 3000 }, () => linkSignals(new AbortController().signal, parent.signal));
    parent.abort();
    process.stdout.write(String(links.filter(({ signal }) => signal.aborted).length));`;
  // Node's warnings can be read only from a separate process.
  const ran = await promisify(execFile)(process.execPath, ["-r", join(__dirname, "../../../../test-support/typescript.cjs"), "-e", code]);
  expect(ran).toEqual({ stdout: "3000", stderr: "" });
});
