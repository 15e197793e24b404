const { default: Sequencer } = require("@jest/test-sequencer");

/** Suites that take half a minute or more: begun late, each would be waited for alone. */
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

/** Begins the long suites first; jest, which has no times of earlier runs in continuous integration, goes by the size of files. */
module.exports = class extends Sequencer {
  /** @param {Parameters<Sequencer["sort"]>[0]} tests */
  async sort(tests) {
    const ordered = await super.sort(tests);
    const isLong = (/** @type {{ path: string }} */ { path }) => LONG.some((part) => path.includes(part));
    return [...ordered.filter(isLong), ...ordered.filter((test) => !isLong(test))];
  }
};
