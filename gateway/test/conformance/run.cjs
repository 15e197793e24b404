/**
 * Runs the suite from its TypeScript sources with plain Node: `node gateway/test/conformance/run.cjs --help`.
 */
const { join } = require("node:path");

require("../support/typescript.cjs");
require(join(__dirname, "main.ts"));
