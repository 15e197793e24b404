export const LIVE = {
  thisRunHasExpired: "This run has expired.",
};
