import { createRequire } from "node:module";

/** The program of a model's process. It is a module so that engines that are modules can be imported; all else is CommonJS. */
const require = createRequire(import.meta.url);
const { runChild } = require("../dist/engines/child.js");
await runChild((file) => import(file));
