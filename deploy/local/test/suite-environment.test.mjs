import assert from "node:assert/strict";
import { AsyncLocalStorage } from "node:async_hooks";
import { createRequire } from "node:module";
import { test } from "node:test";

/** The class accepts more arguments than it uses. */
const load = /** @type {(path: string) => any} */ (createRequire(import.meta.url));

test("a storage that a suite leaves enabled is disabled when the suite ends", async () => {
  const Environment = load("../checks/suite-environment.cjs");
  const config = { globalConfig: {}, projectConfig: { globals: {}, testEnvironmentOptions: {} } };
  const environment = new Environment(config, { testPath: "a.test.ts", console, docblockPragmas: {} });
  await environment.setup();
  const storage = new AsyncLocalStorage();
  storage.enterWith("what the suite has loaded");
  await environment.teardown();
  assert.equal(storage.getStore(), undefined);
});
