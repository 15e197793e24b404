/** Runs the attacks from their TypeScript sources with plain Node, against the platform that runs here. */
const { join } = require("node:path");

require("../support/typescript.cjs");
require(join(__dirname, "main.ts"));
