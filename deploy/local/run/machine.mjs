import { readFileSync } from "node:fs";
import { join } from "node:path";
import { ROOT } from "../paths.mjs";

/** Requirement in package.json, such as ">=20.18". */
export const supportedNode = () => {
  const { engines } = /** @type {{ engines: { node: string } }} */ (JSON.parse(readFileSync(join(ROOT, "package.json"), "utf8")));
  const [, oldest] = /^>=(\d+(?:\.\d+){0,2})$/.exec(engines.node) ?? [];
  if (oldest === undefined) throw new Error(`package.json asks for Node.js ${engines.node}, which nobody here can compare`);
  return oldest;
};

/**
 * @param {string} version
 * @param {string} oldest
 */
export const isAtLeast = (version, oldest) => {
  const parts = (/** @type {string} */ text) => text.split(".").map((part) => Number.parseInt(part, 10));
  const [own, minimum] = [parts(version), parts(oldest)];
  const at = minimum.findIndex((part, index) => (own[index] ?? 0) !== part);
  return at < 0 || (own[at] ?? 0) > (minimum[at] ?? 0);
};

/** @param {NodeJS.Platform} platform @param {string} version of Node.js */
export const requireSupportedMachine = (platform = process.platform, version = process.versions.node) => {
  if (platform === "win32") throw new Error("Windows is supported through WSL only.");
  const oldest = supportedNode();
  if (!isAtLeast(version, oldest)) throw new Error(`Node.js ${oldest} or newer is needed; this is ${version}.`);
};
