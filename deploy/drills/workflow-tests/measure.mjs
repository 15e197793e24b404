/** Chooses edits of workflows from a seed, runs the workflows' tests on each, and compares the ledger with the changed calls. */
import { HARMLESS, REGRESSIONS, TEMPLATES } from "./graphs.mjs";

const END_MS = 300_000;
const POLL_MS = 500;
/** Tests may fail at most 10 of 200 harmless edits, and must fail at least 27 of 30 regressions. */
const MOST_STOPPED = 10 / 200;
const LEAST_STOPPED = 27 / 30;

/** Mulberry32. @param {number} seed @returns {() => number} numbers from 0 to 1 */
const randomOf = (seed) => () => {
  seed = (seed + 0x6d2b79f5) | 0;
  let mixed = Math.imul(seed ^ (seed >>> 15), 1 | seed);
  mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
  return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
};

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
  /** @template T @param {readonly T[]} from @returns {T} */
  const pick = (from) => /** @type {T} */ (from[Math.floor(random() * from.length)]);
  const names = /** @type {(keyof typeof TEMPLATES)[]} */ (Object.keys(TEMPLATES));

  const balance = async () => {
    const { plan, topUp } = (await expected(200, "GET", "/api/me", { cookie })).body.credits;
    return plan + topUp;
  };

  /** @param {string} slug @returns {Promise<{ status: string, creditsCost: number, results: any[] }>} */
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
  for (const name of names) {
    const { body } = await expected(201, "POST", "/api/workflows", { key, body: { name: `Tested ${name}`, ...TEMPLATES[name]() } });
    const slug = String(body.slug);
    slugs[name] = slug;
    const { status, results } = await tested(slug);
    check([`the tests of ${name} pass without an edit`, status === "passed", JSON.stringify(results)]);
  }

  /** @param {keyof typeof TEMPLATES} name @param {import("./graphs.mjs").Edit} edit */
  const edited = async (name, edit) => {
    const template = TEMPLATES[name]();
    edit.edit(template);
    const slug = /** @type {string} */ (slugs[name]);
    await expected(200, "PUT", `/api/workflows/${slug}`, { key, body: template });
    const before = await balance();
    const run = await tested(slug);
    return { ...run, paid: Math.round((before - (await balance())) * 1_000) / 1_000 };
  };

  /** @param {number} count @param {(name: keyof typeof TEMPLATES) => readonly import("./graphs.mjs").Edit[]} editsOf */
  const stoppedOf = async (count, editsOf) => {
    let stopped = 0;
    for (let index = 0; index < count; index += 1) {
      const name = pick(names);
      const edit = pick(editsOf(name));
      const run = await edited(name, edit);
      const [failure] = run.results.flatMap(({ failures }) => failures);
      if (run.status !== "passed") stopped += 1;
      say(`${name}, ${edit.name}: ${run.status}, ${run.paid} credits${failure ? `; ${JSON.stringify(failure)}` : ""}`);
      if (edit.isFree) check([`${name}, ${edit.name}: nothing was charged`, run.paid === 0 && run.creditsCost === 0, `${run.paid}`]);
    }
    return stopped;
  };

  const caught = await stoppedOf(counts.regressions, (name) => REGRESSIONS[name]);
  check([`regressions are stopped (seed ${seed})`, caught / counts.regressions >= LEAST_STOPPED, `${caught} of ${counts.regressions}`]);
  const wrongly = await stoppedOf(counts.harmless, () => HARMLESS);
  check([`harmless edits pass (seed ${seed})`, wrongly / counts.harmless <= MOST_STOPPED, `${wrongly} of ${counts.harmless} stopped`]);
};
