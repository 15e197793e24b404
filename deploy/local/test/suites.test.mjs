import assert from "node:assert/strict";
import { AsyncLocalStorage } from "node:async_hooks";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { test } from "node:test";

/** The classes take more than they use. */
const load = /** @type {(path: string) => any} */ (createRequire(import.meta.url));

test("a storage that a suite has left enabled is disabled when the suite ends", async () => {
  const Environment = load("../checks/suite-environment.cjs");
  const config = { globalConfig: {}, projectConfig: { globals: {}, testEnvironmentOptions: {} } };
  const environment = new Environment(config, { testPath: "a.test.ts", console, docblockPragmas: {} });
  await environment.setup();
  const storage = new AsyncLocalStorage();
  storage.enterWith("what the suite has loaded");
  await environment.teardown();
  assert.equal(storage.getStore(), undefined);
});

test("long suites are begun first, and those of whole platforms after some others each", async () => {
  const Order = load("../checks/suite-order.cjs");
  const context = { config: { cacheDirectory: tmpdir(), id: "none" }, hasteFS: { getSize: () => 1 } };
  const others = Array.from({ length: 30 }, (_, index) => `services/one/test/${index}.test.ts`);
  const platforms = ["gateway/test/conformance/conformance.test.ts", "gateway/test/e2e/a.test.ts", "gateway/test/e2e/b.test.ts"];
  const long = "services/executions/test/lifecycle/transitions-ending.test.ts";
  const sorted = await new Order({ contexts: [], globalConfig: {} }).sort(
    [...platforms, ...others, long].map((path) => ({ path, context })),
  );
  const paths = sorted.map((/** @type {{ path: string }} */ { path }) => path);
  assert.equal(paths[0], long);
  assert.deepEqual(
    paths.flatMap((/** @type {string} */ path, /** @type {number} */ index) => (path.startsWith("gateway/") ? [index] : [])),
    [7, 15, 23],
  );
  assert.equal(paths[23], platforms[0]);
  assert.equal(paths.length, others.length + platforms.length + 1);
});
