import { createReadStream, existsSync, statSync, watchFile } from "node:fs";
import { createInterface } from "node:readline";
import { parseArgs } from "node:util";
import { logPath } from "./platform/platform.mjs";
import { groupOf, processGroups, SERVICE_NAMES } from "./run/processes.mjs";

const SERVERS = ["mongodb", "redis", "temporal", "zipkin"];
const FOLLOW_INTERVAL_MS = 300;
const USAGE = `Usage: npm run logs -- <service> [--no-follow]
Services: ${[...SERVICE_NAMES, ...SERVERS].join(", ")}`;

/** @type {(message: string) => never} */
const refuse = (message) => {
  process.stderr.write(`${message}\n${USAGE}\n`);
  process.exit(2);
};

const readArguments = () => {
  try {
    const options = /** @type {const} */ ({ follow: { type: "boolean", short: "f" }, "no-follow": { type: "boolean" } });
    return parseArgs({ options, allowPositionals: true });
  } catch (error) {
    return refuse(error instanceof Error ? error.message : String(error));
  }
};

const { values, positionals } = readArguments();
const [service] = positionals;
if (service === undefined || positionals.length > 1) refuse("Name one service.");
const groups = Object.keys(processGroups(process.env));
const file = SERVERS.includes(service) || groups.includes(service) ? service : groupOf(process.env, service);
if (file === undefined) refuse(`There is no service called ${service}.`);
const path = logPath(file);
if (!existsSync(path)) refuse(`${service} has written no log yet.`);

/** Omits lines of other services in a shared process, and keeps lines without a service. @param {string} line */
const concerns = (line) => {
  if (file === service) return true;
  try {
    const { name } = JSON.parse(line);
    return name === undefined || name === service || !SERVICE_NAMES.includes(name);
  } catch {
    return true;
  }
};

/** Prints part of the file and returns the end position. @param {number} start @returns {Promise<number>} */
const printFrom = async (start) => {
  const { size } = statSync(path);
  const from = size < start ? 0 : start;
  if (size === from) return from;
  for await (const line of createInterface({ input: createReadStream(path, { start: from, end: size - 1 }) })) {
    if (concerns(line)) process.stdout.write(`${line}\n`);
  }
  return size;
};

let position = await printFrom(0);
if (!values["no-follow"]) {
  /** @type {Promise<void>} */
  let printing = Promise.resolve();
  watchFile(path, { interval: FOLLOW_INTERVAL_MS }, () => {
    printing = printing.then(async () => {
      position = await printFrom(position);
    });
  });
}
