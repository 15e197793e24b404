/**
 * Every drill: what `npm run drill` lists, and how each is run. A drill's code is in the folder of its name.
 *
 * @typedef {"program" | "typescript" | "suites"} Kind
 *   program: `run.mjs`, by plain Node; typescript: `run.ts`, from its sources; suites: the folder's tests, by Jest one after the other
 *
 * @typedef {object} Drill
 * @property {string} name
 * @property {string} sentence what it does, or what must hold
 * @property {number} minutes its usual time on two cores, without what it builds or fetches once
 * @property {Kind} kind
 * @property {boolean} builds whether the checkout is built first; a drill that doesn't say so starts the platform, which builds it, or needs nothing built
 */

/** @type {readonly Drill[]} */
export const DRILLS = [
  {
    name: "conformance",
    sentence: "checks the deployment that runs here, or any other, against the contract of its HTTP interface",
    minutes: 3,
    kind: "typescript",
    builds: false,
  },
  {
    name: "chaos",
    sentence: "kills every part in turn under mixed runs: nothing may be lost, charged twice or left open",
    minutes: 4,
    kind: "program",
    builds: false,
  },
  {
    name: "answers",
    sentence: "kills and stops replicas under forty requests at a time: every answer must be true",
    minutes: 3,
    kind: "program",
    builds: false,
  },
  {
    name: "abuse",
    sentence: "attacks the platform that runs here as a hostile user would, and measures what that costs it",
    minutes: 6,
    kind: "typescript",
    builds: false,
  },
  {
    name: "fuzz",
    sentence: "sends generated requests to every operation of the OpenAPI document, as several callers",
    minutes: 8,
    kind: "program",
    builds: true,
  },
  {
    name: "graphs",
    sentence: "runs 5,000 random graphs of every node kind: each must end like a reference interpreter, for at most its quote",
    minutes: 25,
    kind: "typescript",
    builds: true,
  },
  {
    name: "load",
    sentence: "runs 2,000 asynchronous video runs at once and measures what they need",
    minutes: 5,
    kind: "typescript",
    builds: true,
  },
  {
    name: "long-run",
    sentence: "follows the events of one run of 1,000 calls: none may be missing, and its row must stay small",
    minutes: 4,
    kind: "program",
    builds: true,
  },
  {
    name: "batches",
    sentence: "compares batches of 1,000 rows with separate runs, then kills the process that works on one: every row must end once",
    minutes: 5,
    kind: "program",
    builds: false,
  },
  {
    name: "restarts",
    sentence: "stops and starts every process, two replicas each, under load: no request may fail",
    minutes: 10,
    kind: "program",
    builds: true,
  },
  {
    name: "restore",
    sentence: "loses a platform and restores it from copies made during runs",
    minutes: 10,
    kind: "program",
    builds: true,
  },
  {
    name: "migration",
    sentence: "creates the indexes of a hundred thousand executions while the platform serves",
    minutes: 10,
    kind: "program",
    builds: true,
  },
  {
    name: "upgrade",
    sentence: "runs the newest release beside this code, then stops it: no run may be lost",
    minutes: 6,
    kind: "program",
    builds: true,
  },
  {
    name: "cost",
    sentence: "counts the work of one run: database commands, calls between services, events of its history",
    minutes: 4,
    kind: "program",
    builds: true,
  },
  {
    name: "footprint",
    sentence: "measures the CPU of runs and requests in each process, and the memory of each process",
    minutes: 3,
    kind: "program",
    builds: true,
  },
  {
    name: "size",
    sentence: "counts the code: lines, long files, imports between the layers of executions, files that one run visits",
    minutes: 1,
    kind: "program",
    builds: true,
  },
  {
    name: "console",
    sentence: "tests the whole console in a browser: building, errors, keyboard, hostile texts, everyday tasks",
    minutes: 15,
    kind: "suites",
    builds: true,
  },
  {
    name: "console-year",
    sentence: "opens every list of the console on a platform with a year of data",
    minutes: 5,
    kind: "suites",
    builds: true,
  },
  {
    name: "peers",
    sentence: "tests against other projects' real software: both sides must speak the same protocol",
    minutes: 3,
    kind: "program",
    builds: true,
  },
  {
    name: "models",
    sentence: "checks the request of every hosted model against the types of its provider's library",
    minutes: 2,
    kind: "typescript",
    builds: true,
  },
  {
    name: "media",
    sentence: "processes videos and sounds in every common form with the downloaded ffmpeg, and makes a film to look at",
    minutes: 4,
    kind: "suites",
    builds: true,
  },
  {
    name: "films",
    sentence: "runs every seeded template, and makes a film while its services are killed at every stage",
    minutes: 10,
    kind: "program",
    builds: false,
  },
  {
    name: "local-models",
    sentence: "downloads the machine's own models, measures their results, and kills them under fifty runs",
    minutes: 10,
    kind: "program",
    builds: false,
  },
  {
    name: "engines",
    sentence: "tests both commands of the README on Node.js 20.18, 22 and 24",
    minutes: 45,
    kind: "program",
    builds: false,
  },
  {
    name: "image",
    sentence: "builds the image without Docker, and runs the platform from it",
    minutes: 15,
    kind: "program",
    builds: false,
  },
  {
    name: "kube",
    sentence: "installs, upgrades and rolls back the Helm chart on a real Kubernetes API server",
    minutes: 4,
    kind: "program",
    builds: false,
  },
  {
    name: "leaving",
    sentence: "erases an account and an organization under kills, then searches every store for their words, the address and their ids",
    minutes: 4,
    kind: "program",
    builds: false,
  },
  {
    name: "secrets",
    sentence: "makes a hundred runs that send secrets, then searches every store, log, trace and answer for their values",
    minutes: 1,
    kind: "program",
    builds: true,
  },
  {
    name: "dashboards",
    sentence: "lets a real Prometheus read a platform, and draws the chart's dashboard from its data",
    minutes: 7,
    kind: "program",
    builds: true,
  },
];

/** Letters to change, add or leave out to get from one word to the other (Levenshtein). @param {string} one @param {string} other */
const distance = (one, other) => {
  let row = Array.from({ length: other.length + 1 }, (_, index) => index);
  for (let from = 1; from <= one.length; from += 1) {
    const above = row;
    row = [from];
    for (let to = 1; to <= other.length; to += 1) {
      const replaced = Number(above[to - 1]) + Number(one[from - 1] !== other[to - 1]);
      row.push(Math.min(replaced, Number(above[to]) + 1, Number(row[to - 1]) + 1));
    }
  }
  return Number(row.at(-1));
};

/** The drill whose name is nearest to a wrong one. @param {string} wrong */
export const nearest = (wrong) => {
  const [found] = DRILLS.map(({ name }) => ({ name, far: distance(wrong, name) })).sort((one, other) => one.far - other.far);
  return found?.name;
};
