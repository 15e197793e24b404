/**
 * `node -r from-source.cjs <file>.ts` runs TypeScript sources of this repository without a build, in a process of its
 * own that a test can kill.
 */
const { readFileSync } = require("node:fs");
const Module = require("node:module");
const { join } = require("node:path");
const { transformSync } = require("@swc/core");

const ROOT = join(__dirname, "../../../..");
const SOURCES = {
  "@nodeloom/proto": join(ROOT, "proto/src/index.ts"),
  "@nodeloom/kernel": join(ROOT, "services/kernel/src/index.ts"),
  "@nodeloom/platform": join(ROOT, "services/platform/src/index.ts"),
};

const resolveFilename = Module._resolveFilename;
Module._resolveFilename = (request, ...rest) => SOURCES[request] ?? resolveFilename.call(Module, request, ...rest);

require.extensions[".ts"] = (module, filename) => {
  const { code } = transformSync(readFileSync(filename, "utf8"), {
    filename,
    swcrc: false,
    sourceMaps: false,
    module: { type: "commonjs" },
    jsc: { target: "es2023", parser: { syntax: "typescript" } },
  });
  module._compile(code, filename);
};
