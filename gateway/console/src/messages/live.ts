export const LIVE = {
  runExpired: "This run has expired.",
};
