"use strict";
/** Lets plain Node load the repository's TypeScript: use with `node --require`. */
const { readFileSync } = require("node:fs");
const { transformSync } = require("@swc/core");

require.extensions[".ts"] = (/** @type {any} */ module, /** @type {string} */ filename) => {
  const { code } = transformSync(readFileSync(filename, "utf8"), {
    filename,
    swcrc: false,
    sourceMaps: "inline",
    module: { type: "commonjs" },
    jsc: { target: "es2023", parser: { syntax: "typescript" } },
  });
  module._compile(code, filename);
};
