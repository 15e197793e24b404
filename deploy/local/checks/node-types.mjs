import { readFileSync } from "node:fs";
import { join } from "node:path";
import { ROOT } from "../paths.mjs";

const TABLE = /NODE_KINDS: [^{]*\{([^}]*)\}/;
const KEY = /^\s*(?:"([\w-]+)"|(\w+))[:,]/gm;

/** Types in the kernel's table of node kinds, in order. @type {readonly string[]} */
export const NODE_TYPES = [
  ...(TABLE.exec(readFileSync(join(ROOT, "services/kernel/src/graph/kinds/index.ts"), "utf8"))?.[1] ?? "").matchAll(KEY),
].map(([, quoted, plain]) => `${quoted ?? plain}`);
if (NODE_TYPES.length === 0) throw new Error("kinds/index.ts has no table of node kinds");
