const { default: Sequencer } = require("@jest/test-sequencer");

/** Suites that take half a minute or more: begun late, each would be waited for alone. */
const LONG = ["lifecycle/transitions-", "batches/table", "transform/test/videos", "local/test/local"];

/** Suites that start whole platforms of processes of their own: each of them fills half of a small machine. The longest last. */
const PLATFORMS = ["gateway/test/e2e/", "gateway/test/abuse/", "gateway/test/conformance/"];
/** Others that are begun before each of them: so few of them run at once, and hardly one beside the checks. */
const BETWEEN = 7;

/** @typedef {Parameters<Sequencer["sort"]>[0]} Tests */

/** Where the first of some parts of paths is that a suite's path has; -1: nowhere. @param {readonly string[]} parts @param {Tests[number]} test */
const placeIn = (parts, { path }) => parts.findIndex((part) => path.includes(part));

/**
 * Begins the long suites first, and spreads those of whole platforms among the others; jest, which has no times of earlier
 * runs in continuous integration, goes by the size of files.
 */
module.exports = class extends Sequencer {
  /** @param {Tests} tests */
  async sort(tests) {
    const ordered = await super.sort(tests);
    const platforms = ordered
      .filter((test) => placeIn(PLATFORMS, test) >= 0)
      .sort((one, other) => placeIn(PLATFORMS, one) - placeIn(PLATFORMS, other));
    const others = ordered.filter((test) => placeIn(PLATFORMS, test) < 0);
    const long = others.filter((test) => placeIn(LONG, test) >= 0);
    const queue = [...long, ...others.filter((test) => placeIn(LONG, test) < 0)];
    platforms.forEach((test, index) => queue.splice((index + 1) * (BETWEEN + 1) - 1, 0, test));
    return queue;
  }
};
