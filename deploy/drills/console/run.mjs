import { runBrowserSuites } from "../support/browser-suites.mjs";

export const DRILL = {
  sentence: "tests the whole console in a browser: building, errors, keyboard, hostile texts, everyday tasks",
  minutes: 15,
  builds: true,
};

runBrowserSuites(["light-1440", "light-390", "dark-1440", "dark-390"]);
