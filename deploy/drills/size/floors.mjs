/**
 * The floors of services/executions/src, the lowest first: what is on a floor may import what is on its own and on lower ones. A part is
 * a folder of src, or a file; a folder that stands nowhere here is counted by its own name, and as a fault.
 * @type {readonly (readonly string[])[]}
 */
export const FLOORS = [
  ["run"],
  ["clients.ts", "meters.ts", "signed-headers.ts"],
  ["store"],
  ["mail"],
  ["lifecycle"],
  ["plan"],
  ["calls", "reuse", "moderation"],
  ["carry"],
  ["requests", "batches"],
  ["upkeep", "webhooks"],
  ["config.ts", "database.ts", "server.ts", "wiring.ts", "main.ts"],
];

/** The part a file belongs to: its first folder, or the file itself. @param {string} path below src */
export const partOf = (path) => path.split("/", 1)[0] ?? path;

/** @param {string} part @returns {number} -1 for one that stands on no floor */
export const levelOf = (part) => FLOORS.findIndex((parts) => parts.includes(part));
