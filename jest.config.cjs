const { LIBRARIES, SERVICES } = require("./deploy/services.cjs");
const kernelSources = require("./services/kernel/sources.cjs");

const services = [...SERVICES.map(({ name }) => name), "migrate"].filter((name) => name !== "gateway");

/** @type {import("jest").Config} */
module.exports = {
  testEnvironment: "<rootDir>/deploy/local/checks/suite-environment.cjs",
  testMatch: ["<rootDir>/{services/*,gateway,gateway/console,deploy/*}/test/**/*.test.ts"],
  // `npm run drill peers` runs those.
  testPathIgnorePatterns: ["/node_modules/", "/test/peers/"],
  // `npm run bench -- --against` keeps whole checkouts there.
  modulePathIgnorePatterns: ["<rootDir>/\\.nodeloom/"],
  // These have no CommonJS: Node.js loads them by `require` all the same, jest does not.
  transform: { "^.+\\.ts$": "@swc/jest", "/(?:openid-client|oauth4webapi|jose)/.+\\.js$": "@swc/jest" },
  transformIgnorePatterns: ["/node_modules/(?!(?:openid-client|oauth4webapi|jose)/)"],
  moduleNameMapper: {
    "^@nodeloom/proto$": "<rootDir>/proto/src/index.ts",
    ...Object.fromEntries(Object.entries(kernelSources).map(([name, path]) => [`^${name}$`, path])),
    [`^@nodeloom/(${LIBRARIES.join("|")})$`]: "<rootDir>/services/$1/src/index.ts",
    "^@nodeloom/platform/temporal$": "<rootDir>/services/platform/src/temporal/index.ts",
    "^@nodeloom/client/comfyui$": "<rootDir>/gateway/client/src/comfyui/index.ts",
    "^@nodeloom/client$": "<rootDir>/gateway/client/src/index.ts",
    "^@nodeloom/gateway$": "<rootDir>/gateway/src/main.ts",
    [`^@nodeloom/(${services.join("|")})$`]: "<rootDir>/services/$1/src/main.ts",
  },
  globalSetup: "<rootDir>/deploy/local/checks/jest-global-setup.cjs",
  globalTeardown: "<rootDir>/deploy/local/checks/jest-global-teardown.cjs",
  testSequencer: "<rootDir>/deploy/local/checks/longest-first.cjs",
  // For what never ends; what is merely slow on a busy machine ends within it.
  testTimeout: 180_000,
};
