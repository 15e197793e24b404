import { SERVICES, LIBRARIES, folderOf } from "../../services.cjs";

/**
 * Floors of each part, lowest first: a room (a folder of `src`, or a file in it) can import itself and lower floors. The lint enforces them
 * (eslint.config.mjs), and `node deploy/local/checks/imports.mjs` prints the imports. Files beside the rooms wire them and form the roof.
 * @typedef {object} Part
 * @property {string} name
 * @property {string} folder from the root
 * @property {readonly (readonly string[])[]} [floors] none: the part is held only to its number of circles
 * @property {readonly string[]} [apart] rooms whose folders may not import one another
 * @property {boolean} [together] whether rooms of one floor may import one another
 * @property {number} [upward] imports of a higher floor, where there are still some: the most that there may be
 * @property {number} [circles] groups of rooms that reach one another, where there are still some: the most that there may be
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
      ["accept", "reads", "batches", "bundles", "erasure", "webhooks", "upkeep"],
      ["config.ts", "database.ts", "server.ts", "wiring.ts", "main.ts"],
    ],
    circles: 1,
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
      ["budget-alerts.ts", "retiring-models.ts"],
      ["config.ts", "database.ts", "server.ts", "wire.ts", "main.ts"],
    ],
    together: true,
  },
  {
    name: "gateway",
    folder: "gateway/src",
    floors: [["http"], ["clients"], ["auth"], ["apps", "sweepers"], ["edge"], ["routes"], ["docs"], ["mcp"]],
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

/** Circles among rooms of services without floors; the numbers may only fall. */
const CIRCLES = /** @type {Record<string, number>} */ ({
  billing: 1,
  identity: 1,
  kernel: 1,
  media: 1,
  models: 1,
  platform: 1,
  providers: 1,
  workflows: 1,
});

/** @type {readonly Part[]} */
export const PARTS = [
  ...WITH_FLOORS,
  ...[...SERVICES.map((service) => [service.name, folderOf(service)]), ...LIBRARIES.map((name) => [name, `services/${name}`])]
    .filter(([name]) => !WITH_FLOORS.some((part) => part.name === name))
    .map(([name, folder]) => ({ name: `${name}`, folder: `${folder}/src`, circles: CIRCLES[`${name}`] ?? 0 })),
];

/** @param {string} name */
export const partNamed = (name) => {
  const found = PARTS.find((part) => part.name === name);
  if (found?.floors === undefined) throw new Error(`${name} has no floors`);
  return { ...found, floors: found.floors };
};

/** Room of a file: its first folder, or the file itself. @param {string} path below src */
export const roomOf = (path) => path.split("/", 1)[0] ?? path;

/** Floor of a room; the roof if it is on none. @param {Part} part @param {string} room */
export const levelOf = ({ floors = [] }, room) => {
  const level = floors.findIndex((rooms) => rooms.includes(room));
  return level < 0 ? floors.length : level;
};
