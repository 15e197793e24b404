export const APPROVALS_PAGE = {
  subtitle: "Runs that wait for your decision.",
  nothingToApprove: "Nothing to approve",
  emptyHint: "When a workflow reaches an Approval node, its run waits here until you approve or reject the value.",
  started: "started",
  moreWaiting: "More runs are waiting. They appear here once you decide on these.",
};

export const DECIDE_PAGE = {
  approval: "Approval",
  asks: (account: string, workflow: string) => `${account} asks for your decision in the workflow “${workflow}”.`,
  value: "For review",
  valueTooLong: "The value is too long to show here.",
  comment: "Comment (optional)",
  approve: "Approve",
  reject: "Reject",
  automatically: (isApproved: boolean) => `${isApproved ? "Approves" : "Rejects"} automatically`,
  decideAs: (address: string) => `You decide as ${address}. The first decision counts.`,
  thanks: (isApproved: boolean) => (isApproved ? "Approved" : "Rejected"),
  recorded: "Your decision is recorded, and the run continues. You can close this page.",
  spent: "This link is spent",
  decided: (isApproved: boolean) => `The approval was ${isApproved ? "approved" : "rejected"}`,
  expired: "This link has expired",
  expiredHint: "The time to decide ran out.",
  decidedAutomatically: (isApproved: boolean) =>
    `The time to decide ran out, so the run was ${isApproved ? "approved" : "rejected"} automatically`,
  over: "The run is over",
  overHint: "It ended before the approval was decided. There is nothing to do.",
  revoked: "You are no longer an approver",
  revokedHint: "This link has ended. Ask the person who runs the workflow.",
  linkIncomplete: "The link is incomplete. Copy the whole link from the email.",
};
