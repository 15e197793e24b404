import { execFile } from "node:child_process";
import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { expecting } from "../support/api.mjs";
import { readLocal, ROOT } from "../support/platform.mjs";
import { cards } from "./cards.mjs";

/** @typedef {Awaited<ReturnType<typeof createCompany>>} Company */

const PROGRAM = join(ROOT, "gateway", "client", "bin", "nodeloom.cjs");
/** Everything that the company does by key. */
const CAPABILITIES = [
  ...["workflow:read", "workflow:write", "workflow:run", "execution:read", "usage:read"],
  ...["budgets:write", "keys:write", "erasure:write"],
];
const UNAUTHENTICATED = 401;
const start = promisify(execFile);

/**
 * Signs in once and creates a service account with a key. Everything after that uses the key.
 * @param {object} options
 * @param {ReturnType<typeof import("../support/api.mjs").createApi>} options.api
 * @param {{ email: string, password: string, userId: string }} options.account
 * @param {string} options.folder for the bundle
 */
export const createCompany = async ({ api, account, folder }) => {
  const expect = expecting(api.call);
  const cookie = await api.signIn(account);
  const path = `/api/organizations/${account.userId}/service-accounts`;
  const robot = await expect(201, "POST", path, { cookie, body: { name: "Cards", capabilities: CAPABILITIES } });
  const first = { name: "Cards", serviceAccountId: robot.body.id, capabilities: CAPABILITIES };
  const created = await expect(201, "POST", "/api/keys", { cookie, body: first });

  let { key } = created.body;
  // New names in each run, because the platform keeps its data.
  const mark = Date.now().toString(36);
  const slug = `greeting-cards-${mark}`;
  const workflows = join(folder, "pipelines", "workflows");
  await mkdir(workflows, { recursive: true });

  /** @param {number} status @param {string} method @param {string} path @param {unknown} [body] */
  const by = async (status, method, path, body) => (await expect(status, method, path, { key, body })).body;
  /** @param {string[]} args */
  const cli = async (...args) => {
    const env = { ...process.env, NODELOOM_API_KEY: key, NODELOOM_BASE_URL: readLocal().baseUrl };
    const { code, text } = await start(process.execPath, [PROGRAM, ...args], { cwd: folder, env }).then(
      ({ stdout }) => ({ code: 0, text: stdout }),
      ({ code, stdout, stderr }) => ({ code, text: `${stdout}${stderr}` }),
    );
    return { code, last: text.trim().split("\n").at(-1) ?? "" };
  };

  return {
    mark,
    slug,
    by,
    cli,
    /** Deploys the workflow to staging. @param {string} style */
    deploy: async (style) => {
      await writeFile(join(workflows, `${slug}.json`), JSON.stringify(cards(slug, style)));
      return cli("deploy", "pipelines", "--alias", "staging", "--yes");
    },
    /** Version of an alias. @param {string} alias */
    version: async (alias) =>
      (await by(200, "GET", `/api/workflows/${slug}/aliases`)).find((/** @type {{ name: string }} */ { name }) => name === alias)?.version,
    /** Runs production for a customer. @param {string} customer @param {string} occasion */
    run: (customer, occasion) =>
      api.call("POST", `/api/workflows/${slug}/run`, {
        key,
        body: { inputs: { name: customer, occasion }, metadata: { customer } },
      }),
    /** Rotates the key by itself. @returns true if only the new value works */
    replaceKey: async () => {
      const old = key;
      ({ key } = await by(200, "POST", `/api/keys/${created.body.id}/rotate`, { graceSeconds: 0 }));
      await by(200, "GET", `/api/workflows/${slug}`);
      return (await api.call("GET", `/api/workflows/${slug}`, { key: old })).status === UNAUTHENTICATED;
    },
  };
};
