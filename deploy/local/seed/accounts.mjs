import { expectStatus } from "./client.mjs";

/**
 * @typedef {{ email: string, password: string, userId: string, apiKey?: string }} Account
 * @typedef {"admin" | "free" | "pro" | "business" | "enterprise" | "unapproved"} AccountName
 * @typedef {Record<AccountName, Account>} Accounts
 */

const EMAIL_DOMAIN = "nodeloom.local";

/** The keys get all capabilities that their owner can grant. */
const KEY_NAME = "Local";
const USER_KEY = { name: KEY_NAME, preset: "full-deploy" };
const ADMIN_KEY = { name: KEY_NAME, capabilities: ["*"] };

/** @type {readonly Exclude<AccountName, "admin" | "unapproved">[]} */
const APPROVED = ["free", "pro", "business", "enterprise"];
/** @type {readonly AccountName[]} */
const WITH_KEY = ["admin", "pro", "business", "enterprise"];

/**
 * True if the accounts of an earlier start still exist.
 * @param {import("./client.mjs").Client} client @param {Partial<Accounts>} accounts
 */
const stillThere = async (client, accounts) => {
  const checks = WITH_KEY.map(async (name) => {
    const account = accounts[name];
    if (account?.apiKey === undefined) return false;
    const { status, body } = await client("GET", "/api/whoami", { key: account.apiKey });
    return status === 200 && body.user.id === account.userId && (name === "admin" || body.user.tier === name);
  });
  return accounts.free !== undefined && accounts.unapproved !== undefined && (await Promise.all(checks)).every(Boolean);
};

/**
 * Registers an account, or signs in to an existing one.
 * @param {import("./client.mjs").Client} client @param {{ email: string, password: string }} credentials
 * @returns {Promise<{ userId: string, cookie: string }>}
 */
const enter = async (client, credentials) => {
  const registered = await client("POST", "/api/auth/register", { body: credentials });
  const CONFLICT = 409;
  const answer = registered.status === CONFLICT ? await client("POST", "/api/auth/login", { body: credentials }) : registered;
  const { body, cookie } = expectStatus(`signing in as ${credentials.email}`, answer, 200, 201);
  return { userId: body.user.id, cookie };
};

/** @param {import("./client.mjs").Client} client @param {string} cookie @param {object} request @returns {Promise<string>} */
const createKey = async (client, cookie, request) =>
  expectStatus("creating an API key", await client("POST", "/api/keys", { cookie, body: request }), 201).body.key;

/**
 * Creates the missing accounts: one per tier, an administrator, and one without approval.
 * @param {{ client: import("./client.mjs").Client, secrets: import("../platform/secrets.mjs").Secrets, known: Partial<Accounts> }} options
 *   `known`: accounts of an earlier start
 * @returns {Promise<Accounts>}
 */
export const seedAccounts = async ({ client, secrets, known }) => {
  if (await stillThere(client, known)) return /** @type {Accounts} */ (known);
  const adminCredentials = { email: secrets.BOOTSTRAP_ADMIN_EMAIL, password: secrets.BOOTSTRAP_ADMIN_PASSWORD };
  const login = await client("POST", "/api/auth/login", { body: adminCredentials });
  const { body, cookie } = expectStatus("signing in as administrator", login, 200);

  /** @param {AccountName} name */
  const credentialsOf = (name) => ({ email: `${name}@${EMAIL_DOMAIN}`, password: secrets.ACCOUNT_PASSWORD });

  /** @param {(typeof APPROVED)[number]} name @returns {Promise<[AccountName, Account]>} */
  const seedApproved = async (name) => {
    const credentials = credentialsOf(name);
    const user = await enter(client, credentials);
    const change = { approved: true, tier: name };
    const changed = await client("PATCH", `/api/admin/users/${user.userId}`, { cookie, body: change });
    expectStatus(`approving ${credentials.email}`, changed, 200);
    const account = { ...credentials, userId: user.userId };
    return [name, WITH_KEY.includes(name) ? { ...account, apiKey: await createKey(client, user.cookie, USER_KEY) } : account];
  };

  const admin = { ...adminCredentials, userId: body.user.id, apiKey: await createKey(client, cookie, ADMIN_KEY) };
  const approved = await Promise.all(APPROVED.map(seedApproved));
  const unapproved = credentialsOf("unapproved");
  const { userId } = await enter(client, unapproved);
  return /** @type {Accounts} */ ({ admin, ...Object.fromEntries(approved), unapproved: { ...unapproved, userId } });
};
