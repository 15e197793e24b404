// Lets `node -r` run TypeScript sources, for tests that kill a process.
const Module = require("node:module");
const path = require("node:path");
const { transformFileSync } = require("@swc/core");

const root = path.resolve(__dirname, "..");
const sources = {
  "@nodeloom/platform": "services/platform/src/index.ts",
  "@nodeloom/kernel": "services/kernel/src/index.ts",
  "@nodeloom/proto": "proto/src/index.ts",
};
const resolve = Module._resolveFilename;
Module._resolveFilename = (request, ...rest) =>
  resolve.call(Module, sources[request] ? path.join(root, sources[request]) : request, ...rest);
require.extensions[".ts"] = (module, filename) =>
  module._compile(transformFileSync(filename, { configFile: path.join(root, ".swcrc"), sourceMaps: false }).code, filename);
