import { createRequire } from "node:module";
import { join } from "node:path";
import { folderOf, serviceOf } from "../../services.cjs";
import { ROOT } from "../paths.mjs";

/** Runs several services in one OS process: `node host.mjs identity billing …`. */
const names = process.argv.slice(2);
const require = createRequire(join(ROOT, "package.json"));

/** @param {string} name */
const definitionOf = (name) => require(join(ROOT, folderOf(serviceOf(name)), "dist", "main.js")).service;

const { runProcess } = require(join(ROOT, "services", "platform", "dist", "index.js"));
await runProcess(names.map(definitionOf));
