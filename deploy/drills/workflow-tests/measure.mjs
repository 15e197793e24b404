/** Chooses edits of workflows from a seed, runs the workflows' tests on each, and compares the ledger with the charges of the tests. */
import { HARMLESS, pick, REGRESSIONS } from "./edits.mjs";
import { TEMPLATES } from "./graphs.mjs";

const END_MS = 300_000;
const POLL_MS = 300;
/** Workflows that are tested concurrently. */
const AT_ONCE = 3;
/** Tests may fail at most 10 of 200 harmless edits, and must fail at least 27 of 30 regressions. */
const MOST_STOPPED = 10 / 200;
const LEAST_STOPPED = 27 / 30;
const MILLICREDITS = 1_000;

/** Mulberry32. @param {number} seed @returns {() => number} numbers from 0 to 1 */
const randomOf = (seed) => () => {
  seed = (seed + 0x6d2b79f5) | 0;
  let mixed = Math.imul(seed ^ (seed >>> 15), 1 | seed);
  mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
  return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
};

/** @typedef {keyof typeof TEMPLATES} Name */
/** @typedef {{ name: Name, edit: import("./edits.mjs").Edit, template: import("./graphs.mjs").Template }} Case */

/**
 * @param {object} options
 * @param {ReturnType<typeof import("../support/api.mjs").expecting>} options.expected
 * @param {string} options.key
 * @param {string} options.cookie session of the key's owner, for the balance
 * @param {number} options.seed
 * @param {{ regressions: number, harmless: number }} options.counts
 * @param {import("../support/run-drill.mjs").Drill["say"]} options.say
 * @param {import("../support/run-drill.mjs").Drill["check"]} options.check
 */
export const measure = async ({ expected, key, cookie, seed, counts, say, check }) => {
  const random = randomOf(seed);
  const names = /** @type {Name[]} */ (Object.keys(TEMPLATES));

  const balance = async () => {
    const { plan, topUp } = (await expected(200, "GET", "/api/me", { cookie })).body.credits;
    return Math.round((plan + topUp) * MILLICREDITS);
  };

  /** @param {string} slug @returns {Promise<{ status: string, creditsCost: number, against?: { creditsCost: number }, results: any[] }>} */
  const tested = async (slug) => {
    const { batchId } = (await expected(202, "POST", `/api/workflows/${slug}/tests/run`, { key, body: {} })).body;
    const by = Date.now() + END_MS;
    for (;;) {
      const { body } = await expected(200, "GET", `/api/workflows/${slug}/tests/runs/${batchId}`, { key });
      if (body.status !== "running") return body;
      if (Date.now() > by) throw new Error(`the tests of ${slug} don't end: ${JSON.stringify(body)}`);
      await new Promise((resolve) => setTimeout(resolve, POLL_MS));
    }
  };

  /** @type {Record<string, string>} */
  const slugs = {};
  let golden = "";
  for (const name of names) {
    const { body } = await expected(201, "POST", "/api/workflows", { key, body: { name: `Tested ${name}`, ...TEMPLATES[name]("") } });
    slugs[name] = String(body.slug);
  }
  const execution = await expected(200, "POST", `/api/workflows/${slugs.banner}/run`, { key, body: { inputs: { subject: "lighthouse" } } });
  golden = execution.body.result.banner.id;
  await expected(200, "PUT", `/api/workflows/${slugs.banner}`, { key, body: TEMPLATES.banner(golden) });
  await expected(201, "POST", `/api/workflows/${slugs.letter}/versions`, { key, body: {} });

  let spent = 0;
  const before = await balance();
  /** @param {string} slug */
  const counted = async (slug) => {
    const run = await tested(slug);
    spent += Math.round((run.creditsCost + (run.against?.creditsCost ?? 0)) * MILLICREDITS);
    return run;
  };

  for (const name of names) {
    const { status, results } = await counted(/** @type {string} */ (slugs[name]));
    check([`the tests of ${name} pass without an edit`, status === "passed", JSON.stringify(results.flatMap(({ failures }) => failures))]);
  }

  /** @param {number} count @param {(name: Name) => readonly import("./edits.mjs").Edit[]} editsOf @returns {Case[]} */
  const chosen = (count, editsOf) =>
    Array.from({ length: count }, () => {
      const name = pick(names, random);
      const edit = pick(editsOf(name), random);
      // Templates share parts, which an edit must not change.
      const template = structuredClone(TEMPLATES[name](golden));
      edit.edit(template, random);
      return { name, edit, template };
    });

  /** Tests one workflow's edits one after another. @param {Case[]} cases @returns {Promise<number>} how many were stopped */
  const stoppedOf = async (cases) => {
    let stopped = 0;
    const open = names.map((name) => cases.filter((one) => one.name === name));
    const work = async () => {
      for (let part = open.shift(); part; part = open.shift())
        for (const { name, edit, template } of part) {
          const slug = /** @type {string} */ (slugs[name]);
          await expected(200, "PUT", `/api/workflows/${slug}`, { key, body: template });
          const run = await counted(slug);
          const [failure] = run.results.flatMap(({ failures }) => failures);
          if (run.status !== "passed") stopped += 1;
          say(`${name}, ${edit.name}: ${run.status}, ${run.creditsCost} credits${failure ? `; ${JSON.stringify(failure)}` : ""}`);
          if (edit.isFree && run.creditsCost !== 0) check([`${name}, ${edit.name}: nothing was charged`, false, `${run.creditsCost}`]);
        }
    };
    await Promise.all(Array.from({ length: AT_ONCE }, work));
    return stopped;
  };

  if (counts.regressions > 0) {
    const cases = chosen(counts.regressions, (name) => REGRESSIONS[name]);
    const caught = await stoppedOf(cases);
    check([`regressions are stopped (seed ${seed})`, caught / counts.regressions >= LEAST_STOPPED, `${caught} of ${counts.regressions}`]);
  }
  if (counts.harmless > 0) {
    const cases = chosen(counts.harmless, () => HARMLESS);
    // Only the last runs of a test are reused, and a workflow can have had more regressions.
    for (const name of names) {
      await expected(200, "PUT", `/api/workflows/${slugs[name]}`, { key, body: TEMPLATES[name](golden) });
      await counted(/** @type {string} */ (slugs[name]));
    }
    const wrongly = await stoppedOf(cases);
    check([`harmless edits pass (seed ${seed})`, wrongly / counts.harmless <= MOST_STOPPED, `${wrongly} of ${counts.harmless} stopped`]);
    const free = cases.filter(({ edit }) => edit.isFree).length;
    check(["edits that change no call are free", true, `${free} of ${counts.harmless}`]);
  }
  const charged = before - (await balance());
  check(["the ledger has the charges of the tests, and no others", charged === spent, `${charged} and ${spent} milli-credits`]);
};
