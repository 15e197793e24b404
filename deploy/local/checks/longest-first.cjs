const { default: Sequencer } = require("@jest/test-sequencer");

/** Suites of half a minute or more. If they started late, the run would wait for each at its end. */
const LONG = [
  "lifecycle/transitions-",
  "conformance/conformance",
  "abuse/abuse",
  "e2e/random-graphs",
  "e2e/faults",
  "batches/table",
  "transform/test/videos",
  "local/test/local",
];

/** Starts long suites first. Without durations of earlier runs, as in continuous integration, jest sorts by file size. */
module.exports = class extends Sequencer {
  /** @param {Parameters<Sequencer["sort"]>[0]} tests */
  async sort(tests) {
    const ordered = await super.sort(tests);
    const isLong = (/** @type {{ path: string }} */ { path }) => LONG.some((part) => path.includes(part));
    return [...ordered.filter(isLong), ...ordered.filter((test) => !isLong(test))];
  }
};
