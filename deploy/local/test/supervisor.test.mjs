import assert from "node:assert/strict";
import { test } from "node:test";
import { createBackoff } from "../run/backoff.mjs";
import { createSupervisor } from "../platform/supervisor.mjs";

/** A unit that the test crashes on demand. @param {{ failures?: number }} [options] `failures`: launches that fail after the first */
const createUnit = ({ failures = 0 } = {}) => {
  /** @type {{ crash: () => void, stopped: boolean }[]} */
  const runs = [];
  let failed = 0;
  const launch = async () => {
    if (runs.length > 0 && failed < failures) {
      failed += 1;
      throw new Error("port is taken\ndetails");
    }
    /** @type {(exit: import("../run/child.mjs").Exit) => void} */
    let end = () => {};
    /** @type {Promise<import("../run/child.mjs").Exit>} */
    const exited = new Promise((resolve) => (end = resolve));
    const run = { crash: () => end({ code: null, signal: "SIGKILL" }), stopped: false };
    runs.push(run);
    const stop = async () => {
      run.stopped = true;
      end({ code: 0, signal: null });
    };
    return { pid: 1_000 + runs.length, exited, stop };
  };
  return { unit: { name: "worker", launch }, runs };
};

const quickly = () => createBackoff({ firstMs: 1, longestMs: 4 });

/** @returns {import("../platform/supervisor.mjs").Supervisor & { notes: string[], pidChange: (name?: string) => Promise<void> }} */
const supervise = () => {
  /** @type {string[]} */
  const notes = [];
  /** @type {() => void} */
  let changed = () => {};
  const supervisor = createSupervisor({ note: (name, text) => notes.push(`${name}: ${text}`), changed: () => changed(), backoff: quickly });
  /** Resolves at the next change of a unit's process id. @returns {Promise<void>} */
  const pidChange = (name = "worker") =>
    new Promise((resolve) => {
      const before = supervisor.pids()[name];
      changed = () => ![null, before].includes(supervisor.pids()[name] ?? null) && resolve();
    });
  return { ...supervisor, notes, pidChange };
};

test("restarts a crashed process and reports it in one line", async () => {
  const { unit, runs } = createUnit();
  const supervisor = supervise();
  await supervisor.start(unit);
  const restarted = supervisor.pidChange();
  runs[0]?.crash();
  await restarted;
  assert.equal(runs.length, 2);
  assert.equal(supervisor.pids().worker, 1_002);
  assert.equal(supervisor.notes[0], "worker: was ended by SIGKILL; starting it again in 0.00 s");
});

test("keeps trying while a crashed process can't be started", async () => {
  const { unit, runs } = createUnit({ failures: 3 });
  const supervisor = supervise();
  await supervisor.start(unit);
  const restarted = supervisor.pidChange();
  runs[0]?.crash();
  await restarted;
  assert.equal(runs.length, 2);
  assert.equal(supervisor.notes.filter((note) => note.includes("could not be started (port is taken)")).length, 3);
});

/**
 * Crashes a unit and resolves after its restart. Earlier crashes are restarted by then.
 * @param {ReturnType<typeof supervise>} supervisor
 */
const afterARestart = async (supervisor) => {
  const { unit, runs } = createUnit();
  await supervisor.start({ ...unit, name: "witness" });
  for (let crashes = 0; crashes < 3; crashes += 1) {
    const restarted = supervisor.pidChange("witness");
    runs.at(-1)?.crash();
    await restarted;
  }
};

test("doesn't restart a process that was stopped on request", async () => {
  const { unit, runs } = createUnit();
  const supervisor = supervise();
  await supervisor.start(unit);
  await supervisor.stop(["worker"]);
  await afterARestart(supervisor);
  assert.equal(runs.length, 1);
  assert.equal(runs[0]?.stopped, true);
  assert.equal(supervisor.pids().worker, null);
});

test("reports a failed first start to the caller", async () => {
  const supervisor = supervise();
  const launch = async () => {
    throw new Error("configuration is incomplete");
  };
  await assert.rejects(supervisor.start({ name: "worker", launch }), /configuration is incomplete/);
});

test("replaces a process by one new one when asked to restart it", async () => {
  const { unit, runs } = createUnit();
  const supervisor = supervise();
  await supervisor.start(unit);
  await supervisor.restart("worker");
  await afterARestart(supervisor);
  assert.equal(runs.length, 2);
  assert.equal(runs[0]?.stopped, true);
  assert.deepEqual(
    supervisor.notes.filter((note) => note.startsWith("worker")),
    [],
  );
});
