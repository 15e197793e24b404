/** Source of each entry of this package, for tools that read sources instead of the build: `@nodeloom/kernel/plans` → absolute path. */
const { join } = require("node:path");
const { name, exports: entries } = require("./package.json");

module.exports = Object.fromEntries(
  Object.entries(entries)
    .map(([entry, { default: built }]) => [name + entry.slice(1), join(__dirname, built.replace("dist", "src").replace(/js$/, "ts"))])
    // The whole package is the last, because its name begins the names of the others.
    .reverse(),
);
