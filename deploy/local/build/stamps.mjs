import { join } from "node:path";
import { readJson, writeJson } from "../run/files.mjs";
import { ROOT } from "../paths.mjs";

const STAMPS_FILE = join(ROOT, "node_modules", ".cache", "nodeloom", "build.json");

/** Hashes of the inputs of each build step. @typedef {Record<string, string>} Stamps */

/** @returns {Promise<Stamps>} */
export const readStamps = async () => (await readJson(STAMPS_FILE)) ?? {};

/** @param {string} step @param {string} hash */
export const writeStamp = async (step, hash) => writeJson(STAMPS_FILE, { ...(await readStamps()), [step]: hash });
