import { parseArgs } from "node:util";
import type { Extent } from "./scenarios";

export interface Arguments {
  extent: Extent;
  /** Letters of the scenarios to measure. */
  only: string[];
  jsonFile?: string;
  /** Compares the cost per run with this commit, and measures nothing else. */
  against?: string;
  /** Measures the cost of telemetry, and nothing else. */
  telemetry: boolean;
}

const FULL: Extent = { rounds: 3, roundMs: 5_000, warmUpMs: 2_000, runs: 80 };
const QUICK: Extent = { rounds: 2, roundMs: 1_500, warmUpMs: 750, runs: 40 };

export const USAGE = `Usage: npm run bench -- [--quick] [--only a,b] [--json file]
       npm run bench -- --against <commit> [--quick] [--json file]
       npm run bench -- --telemetry [--quick] [--json file]
  --quick      short rounds: a first impression in about a minute
  --only       measure these scenarios only
  --against    measure what a run costs here and at another commit, on two platforms of their own, in alternating rounds
  --telemetry  the same with a collector and without one, of this checkout
  --json       write the results to a file, too`;

/** Reads the command line. @throws Error with the wrong argument */
export const readArguments = (args: readonly string[], letters: readonly string[]): Arguments => {
  const { values } = parseArgs({
    args: [...args],
    options: {
      quick: { type: "boolean" },
      only: { type: "string" },
      json: { type: "string" },
      against: { type: "string" },
      telemetry: { type: "boolean" },
    },
  });
  const { telemetry = false } = values;
  const measurements = [values.against !== undefined, telemetry, values.only !== undefined].filter(Boolean).length;
  if (measurements > 1) throw new Error("--against, --telemetry and --only each measure something else: leave all but one out");
  const only = values.only === undefined ? [...letters] : values.only.split(",").map((letter) => letter.trim());
  const unknown = only.filter((letter) => !letters.includes(letter));
  if (unknown.length > 0) throw new Error(`there is no scenario ${unknown.join(", ")}: ${letters.join(", ")} exist`);
  return {
    telemetry,
    extent: values.quick ? QUICK : FULL,
    only: letters.filter((letter) => only.includes(letter)),
    ...(values.json === undefined ? {} : { jsonFile: values.json }),
    ...(values.against === undefined ? {} : { against: values.against }),
  };
};
