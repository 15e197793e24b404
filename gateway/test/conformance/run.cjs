/**
 * Runs the suite from its TypeScript sources with plain Node: `node gateway/test/conformance/run.cjs --help`.
 */
const { readFileSync } = require("node:fs");
const { join } = require("node:path");
const { transformSync } = require("@swc/core");

require.extensions[".ts"] = (module, filename) => {
  const { code } = transformSync(readFileSync(filename, "utf8"), {
    filename,
    swcrc: false,
    sourceMaps: "inline",
    module: { type: "commonjs" },
    jsc: { target: "es2023", parser: { syntax: "typescript" } },
  });
  module._compile(code, filename);
};

require(join(__dirname, "main.ts"));
