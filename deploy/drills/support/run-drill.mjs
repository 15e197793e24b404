/**
 * Output and checks of a drill.
 * @typedef {[name: string, ok: boolean, detail: string]} Check
 * @typedef {object} Drill
 * @property {number} startedAt in milliseconds since the epoch
 * @property {(line: string) => void} say prints a line with the seconds since the start
 * @property {(...checks: Check[]) => void} check records results, which are printed at the end
 * @property {(undo: () => unknown) => void} atEnd registers clean-up for the end of the drill, even if it fails; the last one runs first
 */

/** @param {number} ms */
export const seconds = (ms) => (ms / 1_000).toFixed(1);

/**
 * Runs a drill, prints its results and exits: with 0 if it finished and every check passed, else with 1.
 * @param {string} name @param {(drill: Drill) => Promise<void>} carryOut
 */
export const runDrill = async (name, carryOut) => {
  const startedAt = Date.now();
  const say = (/** @type {string} */ line) => void process.stdout.write(`${seconds(Date.now() - startedAt).padStart(6)} s  ${line}\n`);
  /** @type {Check[]} */
  const checks = [];
  /** @type {(() => unknown)[]} */
  const undoing = [];
  try {
    await carryOut({ startedAt, say, check: (...results) => void checks.push(...results), atEnd: (undo) => void undoing.unshift(undo) });
  } catch (error) {
    say(error instanceof Error ? (error.stack ?? error.message) : String(error));
    checks.push(["the drill came to its end", false, ""]);
  }
  for (const undo of undoing) await undo();
  for (const [what, ok, detail] of checks) say(`${ok ? "ok    " : "FAILED"}  ${what}: ${detail}`);
  const passed = checks.every(([, ok]) => ok);
  process.stdout.write(`\n${name}: ${passed ? "passed" : "FAILED"}\n`);
  process.exit(passed ? 0 : 1);
};
