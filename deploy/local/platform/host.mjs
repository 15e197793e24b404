import { createRequire } from "node:module";
import { join } from "node:path";
import { ROOT } from "../paths.mjs";
import { SERVICES } from "../run/processes.mjs";

/** Runs several services in one OS process: `node host.mjs identity billing …`. */
const names = process.argv.slice(2);
const require = createRequire(join(ROOT, "package.json"));

/** @param {string} name */
const definitionOf = (name) => {
  const service = /** @type {Record<string, import("../run/processes.mjs").Service | undefined>} */ (SERVICES)[name];
  if (service === undefined) throw new Error(`there is no service called ${name}`);
  return require(join(ROOT, service.folder, "dist", "main.js")).service;
};

const { runProcess } = require(join(ROOT, "services", "platform", "dist", "index.js"));
await runProcess(names.map(definitionOf));
