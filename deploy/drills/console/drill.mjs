export const DRILL = {
  sentence: "tests the whole console in a browser: building, errors, keyboard, hostile texts, everyday tasks",
  minutes: 15,
  builds: true,
};
