import { SERVICES, LIBRARIES, folderOf } from "../../services.cjs";

/**
 * Floors of each part, lowest first. A room (a folder of `src`, or a file in it) can import itself and rooms of lower floors. The lint
 * enforces this (eslint.config.mjs), and `node deploy/local/checks/imports.mjs` prints the imports. Files beside the rooms wire them and
 * form the roof.
 * @typedef {object} Part
 * @property {string} name
 * @property {string} folder relative to the root
 * @property {readonly (readonly string[])[]} [floors] without them, only the number of circles is checked
 * @property {readonly string[]} [apart] rooms whose folders must not import one another
 * @property {boolean} [together] true if rooms of one floor can import one another
 * @property {number} [upward] maximum imports of a higher floor; 0 by default
 * @property {number} [circles] maximum groups of rooms that import one another in a circle; 0 by default
 */

/** @type {readonly Part[]} */
const WITH_FLOORS = [
  {
    name: "executions",
    folder: "services/executions/src",
    together: true,
    floors: [
      ["run"],
      ["clients.ts", "meters.ts"],
      ["record"],
      ["lifecycle", "plan"],
      ["calls", "reuse", "moderation"],
      ["workflow"],
      ["accept", "reads", "batches", "bundles", "erasure", "webhooks", "maintenance", "upkeep"],
      ["config.ts", "database.ts", "server.ts", "calls-wiring.ts", "wiring.ts", "main.ts"],
    ],
  },
  {
    name: "notifications",
    folder: "services/notifications/src",
    floors: [
      ["delivery.ts"],
      ["timing.ts", "clients.ts", "meters.ts"],
      ["store"],
      ["mail", "webhooks"],
      ["workflows"],
      ["temporal"],
      ["audit-rows.ts", "credit-alerts.ts", "retiring-models.ts"],
      ["config.ts", "database.ts", "server.ts", "wire.ts", "main.ts"],
    ],
    together: true,
  },
  {
    name: "gateway",
    folder: "gateway/src",
    floors: [["http"], ["clients"], ["auth"], ["apps"], ["edge"], ["routes"], ["docs"], ["mcp"]],
  },
  {
    name: "console",
    folder: "gateway/console/src",
    floors: [
      ["messages"],
      ["ui", "styles"],
      ["document"],
      ["api", "canvas"],
      ["media"],
      ["parts"],
      ["runs"],
      ["features"],
      ["editor"],
      ["app", "visitor"],
    ],
    apart: ["features"],
  },
];

/** @type {readonly Part[]} */
export const PARTS = [
  ...WITH_FLOORS,
  ...[...SERVICES.map((service) => [service.name, folderOf(service)]), ...LIBRARIES.map((name) => [name, `services/${name}`])]
    .filter(([name]) => !WITH_FLOORS.some((part) => part.name === name))
    .map(([name, folder]) => ({ name: `${name}`, folder: `${folder}/src` })),
];

/** @param {string} name */
export const partNamed = (name) => {
  const ownPart = PARTS.find((part) => part.name === name);
  if (ownPart?.floors === undefined) throw new Error(`${name} has no floors`);
  return { ...ownPart, floors: ownPart.floors };
};

/** Room of a file: its first folder, or the file itself. @param {string} path below src */
export const roomOf = (path) => path.split("/", 1)[0] ?? path;

/** Floor of a room, or the roof if it has none. @param {Part} part @param {string} room */
export const levelOf = ({ floors = [] }, room) => {
  const level = floors.findIndex((rooms) => rooms.includes(room));
  return level < 0 ? floors.length : level;
};
