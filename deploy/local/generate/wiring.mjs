// Writes everything derived from the table of services and from existing files: exports of the protocol, the platform's table, and
// TypeScript references.
import { existsSync } from "node:fs";
import { basename, join, relative } from "node:path";
import { SERVICES } from "../../services.cjs";
import { listWorkspaces } from "../build/workspaces.mjs";
import { ROOT } from "../paths.mjs";
import { filesBelow, readJson } from "../run/files.mjs";
import { writeGenerated } from "./write.mjs";

/** Exports that differ from their file's name: `exports` is reserved in CommonJS, `servers` is vague, and `triggers` is a service. */
const EXPORTS = /** @type {Record<string, string>} */ ({
  "executions/v1/triggers": "earlierTriggers",
  "media/v1/exports": "mediaExports",
  "models/v1/servers": "modelServers",
});
const PACKAGES = join(ROOT, "proto", "nodeloom");
const files = (await filesBelow(PACKAGES, (path) => path.endsWith(".proto"))).map((path) =>
  relative(PACKAGES, path).slice(0, -".proto".length),
);
const exported = files.sort().map((file) => {
  const name = EXPORTS[file] ?? basename(file).replace(/_(\w)/g, (_, letter) => letter.toUpperCase());
  return { name, line: `export * as ${name} from "./gen/nodeloom/${file}";` };
});
const twice = exported.find(({ name }, index) => exported.findIndex((other) => other.name === name) < index);
if (twice) throw new Error(`two files of the protocol would be exported as ${twice.name}: give one a name in EXPORTS`);

await writeGenerated(
  "proto/src/index.ts",
  `// Written by \`npm run generate\` from the files of proto/nodeloom.
import { join } from "node:path";

/** The compiled protocol (a google.protobuf.FileDescriptorSet with all imports), for server reflection. */
export const descriptorsFile = join(__dirname, "..", "dist", "descriptors.binpb");

export { ErrorInfo } from "./gen/google/rpc/error_details";
export { Status } from "./gen/google/rpc/status";
${exported.map(({ line }) => line).join("\n")}
`,
);

const ports = SERVICES.flatMap(({ listens }) => Object.values(listens));
const shared = ports.find((port, index) => ports.indexOf(port) < index);
if (shared !== undefined) throw new Error(`two services of deploy/services.cjs listen on port ${shared}`);
const rows = SERVICES.map(({ name, listens, calls, database }) => [name, { listens, calls, database }]);

await writeGenerated(
  "services/platform/src/services.ts",
  `/**
 * Every service: its ports by variable, the services it calls, and whether it has a database. Written by \`npm run generate\` from
 * deploy/services.cjs.
 */
export const SERVICES = ${JSON.stringify(Object.fromEntries(rows))} as const satisfies Record<string, ServiceRow>;

interface ServiceRow {
  listens: Readonly<Record<string, number>>;
  calls: readonly string[];
  database: boolean;
}
`,
);

const projects = (await listWorkspaces())
  .filter((folder) => existsSync(join(ROOT, folder, "tsconfig.json")))
  .map((folder) => `./${folder}`);
/** The console's tests aren't CommonJS modules. */
const CONSOLE = "./gateway/console";
const references = {
  "tsconfig.json": [...projects, "./tsconfig.test.json"],
  "tsconfig.test.json": projects.filter((path) => path !== CONSOLE),
};
for (const [file, paths] of Object.entries(references)) {
  const config = await readJson(join(ROOT, file));
  await writeGenerated(file, JSON.stringify({ ...config, references: paths.map((path) => ({ path })) }));
}
