import { randomBytes } from "node:crypto";
import { SERVICES } from "../../services.cjs";
import { readJson, writeJson } from "../run/files.mjs";
import { SECRETS_FILE } from "../paths.mjs";

/**
 * @typedef {object} Secrets
 * @property {string} API_KEY_PEPPER
 * @property {string} SECRETS_KEYS encrypt the providers' keys that administrators set in the console
 * @property {string} MEDIA_URL_KEYS sign the addresses of files
 * @property {string} SESSION_SECRET
 * @property {string} SANDBOX_API_KEY
 * @property {string} SANDBOX_CONTROL_KEY
 * @property {string} INFERENCE_API_KEY
 * @property {string} BOOTSTRAP_ADMIN_EMAIL
 * @property {string} BOOTSTRAP_ADMIN_PASSWORD
 * @property {string} ACCOUNT_PASSWORD of the other demo accounts
 * @property {string} STRIPE_SECRET_KEY empty unless the environment sets it
 * @property {string} STRIPE_WEBHOOK_SECRET empty unless the environment sets it
 * @property {string} PROVENANCE_CERTIFICATE empty unless the environment sets it
 * @property {string} PROVENANCE_KEY empty unless the environment sets it
 */

const SECRET_BYTES = 32;
const PASSWORD_BYTES = 12;

const generate = () => ({
  API_KEY_PEPPER: randomBytes(SECRET_BYTES).toString("base64url"),
  SECRETS_KEYS: randomBytes(SECRET_BYTES).toString("hex"),
  MEDIA_URL_KEYS: randomBytes(SECRET_BYTES).toString("hex"),
  SESSION_SECRET: randomBytes(SECRET_BYTES).toString("base64url"),
  SANDBOX_API_KEY: randomBytes(PASSWORD_BYTES).toString("base64url"),
  SANDBOX_CONTROL_KEY: randomBytes(PASSWORD_BYTES).toString("base64url"),
  INFERENCE_API_KEY: randomBytes(PASSWORD_BYTES).toString("base64url"),
  BOOTSTRAP_ADMIN_EMAIL: "admin@nodeloom.local",
  BOOTSTRAP_ADMIN_PASSWORD: randomBytes(PASSWORD_BYTES).toString("base64url"),
  ACCOUNT_PASSWORD: randomBytes(PASSWORD_BYTES).toString("base64url"),
});

/** Secrets of others come from the environment and aren't stored. Absent ones are empty. @param {NodeJS.ProcessEnv} env */
const ofOthers = (env) =>
  /** @type {Pick<Secrets, "STRIPE_SECRET_KEY" | "STRIPE_WEBHOOK_SECRET" | "PROVENANCE_CERTIFICATE" | "PROVENANCE_KEY">} */ (
    Object.fromEntries(SERVICES.flatMap(({ secrets = [] }) => secrets.map((name) => [name, env[name] ?? ""])))
  );

/**
 * Secrets of this local platform, generated once and stored in a file that only its owner can read. The environment takes precedence.
 * @param {NodeJS.ProcessEnv} env
 * @returns {Promise<Secrets>}
 */
export const localSecrets = async (env) => {
  const secrets = { ...generate(), ...(await readJson(SECRETS_FILE)) };
  await writeJson(SECRETS_FILE, secrets);
  const overrides = Object.fromEntries(Object.keys(secrets).flatMap((name) => (env[name] ? [[name, env[name]]] : [])));
  return { ...ofOthers(env), ...secrets, ...overrides };
};
