import { Unavailable } from "./packages.mjs";

/**
 * One way to get a server's program.
 * @template T
 * @typedef {object} Way
 * @property {import("../run-server.mjs").Source} source
 * @property {string} description for the progress line
 * @property {() => Promise<T | undefined>} find looks for the program without downloading
 * @property {() => Promise<T>} [fetch] throws Unavailable if this machine can't
 */

/**
 * Uses the first way that works. Programs on PATH or in the cache come before downloads.
 * @template T
 * @param {{ server: string, help: string, ways: readonly Way<T>[], log: (line: string) => void }} options `help`: text that explains how to
 *   provide the server
 * @returns {Promise<{ found: T, source: import("../run-server.mjs").Source, description: string }>}
 */
export const locate = async ({ server, help, ways, log }) => {
  for (const { source, description, find } of ways) {
    const located = await find();
    if (located !== undefined) return { found: located, source, description };
  }
  const reasons = [];
  for (const { source, description, fetch } of ways) {
    if (fetch === undefined) continue;
    try {
      log(`${server}: fetching ${description}`);
      return { found: await fetch(), source, description };
    } catch (error) {
      if (!(error instanceof Unavailable)) throw error;
      reasons.push(`  - ${description}: ${error.message}`);
    }
  }
  throw new Error(`${server} could not be had.\n${reasons.join("\n")}\n${help}`);
};
