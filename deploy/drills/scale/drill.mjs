export const DRILL = {
  sentence: "writes eight days of runs, the first one with 100,000, and moves the clock of retention past them: it must keep up",
  minutes: 20,
};
