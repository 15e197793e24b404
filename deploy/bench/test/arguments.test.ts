import { readArguments } from "../src/arguments";

const LETTERS = ["a", "b", "c", "d"];

describe("the command line", () => {
  it("measures everything by default", () => {
    expect(readArguments([], LETTERS)).toMatchObject({ only: LETTERS });
    expect(readArguments([], LETTERS).jsonFile).toBeUndefined();
  });

  it("measures the chosen scenarios in their own order, once", () => {
    expect(readArguments(["--only", "d, b,b"], LETTERS).only).toEqual(["b", "d"]);
  });

  it("measures for a shorter time with the quick option", () => {
    const [quick, full] = [readArguments(["--quick"], LETTERS).extent, readArguments([], LETTERS).extent];
    expect(quick.roundMs * quick.rounds).toBeLessThan(full.roundMs * full.rounds);
  });

  it("compares with a commit instead of measuring scenarios", () => {
    expect(readArguments(["--against", "v0.1.0"], LETTERS).against).toBe("v0.1.0");
    expect(readArguments([], LETTERS).against).toBeUndefined();
  });

  it("measures the cost of telemetry instead of scenarios", () => {
    expect([readArguments(["--telemetry"], LETTERS).telemetry, readArguments([], LETTERS).telemetry]).toEqual([true, false]);
  });

  it.each([
    { args: ["--against", "v0.1.0", "--only", "a"], problem: "leave all but one out" },
    { args: ["--telemetry", "--only", "a"], problem: "leave all but one out" },
    { args: ["--only", "e"], problem: "there is no scenario e" },
    { args: ["--only", ""], problem: "there is no scenario" },
    { args: ["--slow"], problem: "--slow" },
    { args: ["fast"], problem: "fast" },
    { args: ["--json"], problem: "--json" },
  ])("is refused with a reason: $args", ({ args, problem }) => {
    expect(() => readArguments(args, LETTERS)).toThrow(problem);
  });
});
