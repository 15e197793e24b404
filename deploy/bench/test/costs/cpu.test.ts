import { cpuPerRun, readStat, timeOf, totalOf } from "../../src/costs/cpu";

describe("CPU time", () => {
  it("is read after a command's name that contains spaces and parentheses", () => {
    const stat = "42 (a (bad) name) S 7 42 42 0 -1 4194560 900 0 0 0 150 25 3 4 20 0 11 0 100 1000 50";
    expect(readStat(stat)).toEqual({ parent: 7, cpuMs: 1_750 });
  });

  it("counts a process with all its children, each once, and no other", () => {
    const processes = new Map([
      [10, { parent: 1, cpuMs: 100 }],
      [11, { parent: 10, cpuMs: 20 }],
      [12, { parent: 11, cpuMs: 3 }],
      [20, { parent: 1, cpuMs: 1_000 }],
    ]);
    expect(timeOf(new Set([10, 11]), processes)).toBe(123);
    expect(timeOf(new Set(), processes)).toBe(0);
  });

  it("is shared among the runs of a round", () => {
    const zero = { Temporal: 0, database: 0, executions: 0, domain: 0, gateway: 0, Redis: 0 };
    const perRun = cpuPerRun({ ...zero, Temporal: 50 }, { ...zero, Temporal: 250, gateway: 20 }, 10);
    expect(perRun).toEqual({ ...zero, Temporal: 20, gateway: 2 });
    expect(totalOf(perRun)).toBe(22);
  });
});
