// Writes the union of node types and the list of their pages, from the kernel's table of node kinds.
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { NODE_TYPES } from "../checks/node-types.mjs";
import { ROOT } from "../paths.mjs";
import { writeGenerated } from "./write.mjs";

await writeGenerated(
  "services/kernel/src/graph/node-types.ts",
  `/** The types of nodes. Written by \`npm run generate\` from the table in kinds/index.ts, whose files import this one. */
export const NODE_TYPES = ${JSON.stringify(NODE_TYPES)} as const;
export type NodeType = (typeof NODE_TYPES)[number];
`,
);

const README = "docs/README.md";
const pages = readdirSync(join(ROOT, "docs", "guide", "nodes")).map((page) => page.replace(/\.md$/, ""));
const ordered = [...NODE_TYPES.filter((type) => pages.includes(type)), ...pages.filter((page) => !NODE_TYPES.includes(page)).sort()];
const line = `- Nodes: ${ordered.map((page) => `[${page}](guide/nodes/${page}.md)`).join(", ")}`;
await writeGenerated(README, readFileSync(join(ROOT, README), "utf8").replace(/^- Nodes: .*$/m, line));
