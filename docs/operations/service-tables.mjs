// Writes the table of services and the tables of environment variables into processes.md, and the table of services into architecture.md.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { DECLARED, OF_PROCESS } from "../../deploy/local/generate/declared.mjs";
import { writeChanged, writeMarked } from "../../deploy/local/generate/write.mjs";
import { ROOT } from "../../deploy/local/paths.mjs";

const PAGE = "docs/operations/processes.md";

/** @typedef {import("../../deploy/local/generate/declared.mjs").Variable} Variable */

/** @param {string} text */
const cell = (text) => text.replaceAll("|", "\\|");

/** @param {Variable} variable */
const row = ({ name, required, shown, description }) =>
  `| \`${name}\` | ${required ? "required" : shown === "" ? "" : `\`${cell(shown)}\``} | ${cell(description)} |`;

/** @param {readonly Variable[]} variables */
const table = (variables) => ["| variable | default | what it is |", "| --- | --- | --- |", ...variables.map(row)].join("\n");

const SERVERS = /** @type {const} */ ([
  ["MongoDB", "MONGODB_URI"],
  ["Redis", "REDIS_URL"],
  ["Temporal", "TEMPORAL_ADDRESS"],
]);

/** @param {(typeof DECLARED)[number]} declared */
const serviceRow = ({ service, variables }) => {
  const servers = SERVERS.flatMap(([server, variable]) => (variables.some(({ name }) => name === variable) ? [server] : []));
  const ports = Object.values(service.listens).join(", ");
  const protocol = service.protocol === "grpc" ? "gRPC" : "HTTP";
  return `| [${service.name}](#${service.name}) | ${protocol} | ${ports} | ${service.about} | ${[...servers, ...service.calls].join(", ")} |`;
};

/** A service without a section of its own gets one at the end. */
const page = readFileSync(join(ROOT, PAGE), "utf8");
const missing = DECLARED.filter(({ service }) => !page.includes(`<!-- ${service.name} variables -->`));
const sections = missing.map(
  ({ service: { name, about } }) =>
    `\n## ${name}\n\n${about[0]?.toUpperCase()}${about.slice(1)}.\n\n<!-- ${name} variables -->\n<!-- end -->\n`,
);
if (missing.length > 0) writeChanged(PAGE, page + sections.join(""));

const services = ["| Service | Protocol | Ports | Tasks | Needs |", "| --- | --- | --- | --- | --- |", ...DECLARED.map(serviceRow)];
await writeMarked(PAGE, {
  services: services.join("\n"),
  "every variables": table(OF_PROCESS),
  ...Object.fromEntries(DECLARED.map(({ service, variables }) => [`${service.name} variables`, table(variables)])),
});

/** @param {(typeof DECLARED)[number]["service"]} service */
const overview = ({ name, about, calls, host, queue }) =>
  `| ${name} | ${about} | ${calls.join(", ")} | ${host} | ${queue === undefined ? "" : queue === "" ? "the platform's" : `${queue}`} |`;
const overviews = DECLARED.map(({ service }) => overview(service));
await writeMarked("docs/contribute/architecture.md", {
  services: ["| Service | Does | Calls | Local process | Temporal queue |", "| --- | --- | --- | --- | --- |", ...overviews].join("\n"),
});
