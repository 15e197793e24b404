"use strict";
/** Lets plain Node load this repository's TypeScript test support as it is. */
const { readFileSync } = require("node:fs");
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
