import { runBrowserSuites } from "../support/browser-suites.mjs";

export const DRILL = { sentence: "opens every list of the console on a platform with a year of data", minutes: 5, builds: true };

runBrowserSuites(["year"]);
