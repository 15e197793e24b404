import { createBackoff } from "../run/backoff.mjs";

/**
 * A launched process, ready for use.
 * @typedef {object} Launched
 * @property {number | null} pid null if the launcher didn't start it
 * @property {Promise<import("../run/child.mjs").Exit>} exited
 * @property {() => Promise<void>} stop
 *
 * @typedef {object} Unit
 * @property {string} name
 * @property {() => Promise<Launched>} launch resolves when ready; uses the same port and data every time
 *
 * @typedef {object} Supervisor
 * @property {(unit: Unit) => Promise<void>} start resolves when ready; rejects if it can't be started
 * @property {(name: string) => Promise<void>} restart stops it and starts it again
 * @property {(names: readonly string[]) => Promise<void>} stop
 * @property {() => Record<string, number | null>} pids
 */

/** @param {import("../run/child.mjs").Exit} exit */
const describeExit = ({ code, signal }) => (signal === null ? `ended with code ${code}` : `was ended by ${signal}`);

/** @param {number} ms */
const delayFor = (ms) => new Promise((resolve) => setTimeout(resolve, ms));

/**
 * Restarts crashed processes, with growing pauses while they keep crashing.
 * @param {{ note: (name: string, text: string) => void, changed: () => void, backoff?: typeof createBackoff }} options `changed` is called
 *   when a process id changes
 * @returns {Supervisor}
 */
export const createSupervisor = ({ note, changed, backoff = createBackoff }) => {
  /** @typedef {{ unit: Unit, nextDelay: (ranForMs: number) => number, launched: Launched | undefined, wanted: boolean, since: number, generation: number }} Entry */
  /** @type {Map<string, Entry>} */
  const entries = new Map();

  /** @param {Entry} entry */
  const launch = async (entry) => {
    const launched = await entry.unit.launch();
    entry.since = Date.now();
    entry.launched = launched;
    if (!entry.wanted) {
      await launched.stop();
      return;
    }
    changed();
    void launched.exited.then((exit) => {
      if (entry.launched !== launched) return;
      entry.launched = undefined;
      if (entry.wanted) void recover(entry, describeExit(exit));
    });
  };

  /** @param {Entry} entry @param {string} why */
  const recover = async (entry, why) => {
    const { name } = entry.unit;
    const { generation } = entry;
    // A manual stop or restart ends this recovery.
    const goesOn = () => entry.wanted && entry.generation === generation;
    changed();
    let reason = why;
    while (goesOn()) {
      const delay = entry.nextDelay(Date.now() - entry.since);
      note(name, `${reason}; starting it again in ${(delay / 1000).toFixed(2)} s`);
      await delayFor(delay);
      if (!goesOn()) return;
      try {
        const started = Date.now();
        entry.since = started;
        await launch(entry);
        note(name, `ready again after ${((Date.now() - started) / 1000).toFixed(1)} s`);
        return;
      } catch (error) {
        reason = `could not be started (${error instanceof Error ? error.message.split("\n")[0] : String(error)})`;
      }
    }
  };

  /** @param {Entry} entry */
  const stopEntry = async (entry) => {
    entry.wanted = false;
    entry.generation += 1;
    const { launched } = entry;
    entry.launched = undefined;
    await launched?.stop();
  };

  return {
    start: async (unit) => {
      const entry = { unit, nextDelay: backoff(), launched: undefined, wanted: true, since: Date.now(), generation: 0 };
      entries.set(unit.name, entry);
      await launch(entry);
    },
    restart: async (name) => {
      const entry = entries.get(name);
      if (entry === undefined) throw new Error(`nothing called ${name} runs`);
      await stopEntry(entry);
      entry.wanted = true;
      try {
        await launch(entry);
      } catch (error) {
        void recover(entry, `could not be started (${error instanceof Error ? error.message.split("\n")[0] : String(error)})`);
      }
    },
    stop: async (names) => {
      await Promise.all(names.flatMap((name) => entries.get(name) ?? []).map(stopEntry));
    },
    pids: () => Object.fromEntries([...entries].map(([name, { launched }]) => [name, launched?.pid ?? null])),
  };
};
