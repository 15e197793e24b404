export const APPROVALS_PAGE = {
  subtitle: "Runs that wait for your decision.",
  nothingToApprove: "Nothing to approve",
  emptyHint: "When a workflow reaches an Approval node, its run waits here until you approve or reject the value.",
  started: "started",
  moreWaiting: "More runs are waiting. They appear here once you decide on these.",
};
