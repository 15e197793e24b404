export const APPROVALS_PAGE = {
  runsThatWaitForYour: "Runs that wait for your decision.",
  nothingToApprove: "Nothing to approve",
  whenAWorkflowReachesAn: "When a workflow reaches an Approval node, its run waits here until you approve or reject the value.",
  started: "started",
  moreRunsAreWaitingThey: "More runs are waiting. They appear here once you decide on these.",
};
