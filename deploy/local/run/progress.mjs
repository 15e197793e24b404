const NAME_WIDTH = 14;
const TIME_WIDTH = 8;

/** @param {number} ms */
const seconds = (ms) => `${(ms / 1000).toFixed(1)} s`;

/**
 * @typedef {object} Progress
 * @property {(text: string) => void} line prints a line unchanged
 * @property {(name: string, work: () => Promise<string>) => Promise<void>} step runs `work`, then prints its result and duration
 * @property {(name: string, detail: string) => void} note prints an event outside of steps
 * @property {(error: unknown) => void} fail
 */

/**
 * Prints short, aligned progress lines.
 * @param {{ write?: (text: string) => void, clock?: () => number }} [options]
 * @returns {Progress}
 */
export const createProgress = ({ write = (text) => process.stdout.write(text), clock = Date.now } = {}) => {
  /** @param {string} name @param {string} time @param {string} detail */
  const print = (name, time, detail) => write(`  ${name.padEnd(NAME_WIDTH)} ${time.padStart(TIME_WIDTH)}   ${detail}\n`);
  return {
    line: (text) => write(`${text}\n`),
    note: (name, detail) => print(name, "", detail),
    step: async (name, work) => {
      const start = clock();
      const detail = await work();
      print(name, seconds(clock() - start), detail);
    },
    fail: (error) => {
      process.stderr.write(`\n${error instanceof Error ? error.message : String(error)}\n`);
    },
  };
};
