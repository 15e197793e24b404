export const AUDIT_TAB = {
  action: "Action",
  resource: "Resource",
  change: "Change",
  outcome: "Outcome",
  user: "User",
  withKey: (name: string) => `with key ${name}`,
  auditLog: "Audit log",
  empty: "No entries yet.",
  noMatches: "No entries match.",
  kind: "Kind",
  everything: "Everything",
  signIns: "Sign-ins",
  refused: "Refused attempts",
  members: "Members",
  keys: "Keys",
  secrets: "Secrets",
  workflows: "Workflows",
  decisions: "Decisions",
  endpoints: "Webhook endpoints",
  search: "Search the audit log",
  searchHint: "Action, resource or change",
  csv: "CSV",
  address: "Address",
};

export const INVITATION_PAGE = {
  joinAnOrganization: "Join an organization",
  intro: "You share workflows, files and credits with its members. Your personal account stays separate, and you can switch at any time.",
  linkIncomplete: "The link is incomplete. Copy the whole link.",
  joinOrganization: "Join organization",
};

export const INVITATIONS_TAB = {
  anyoneWithTheLink: "Anyone with the link",
  expires: "Expires",
  withdrawFor: (email: string | null) => `Revoke the invitation for ${email ?? "anyone with the link"}`,
  revoke: "Revoke",
  revoked: "Invitation revoked: its link no longer works.",
  inviteMember: "Invite member",
  invitations: "Invitations",
  noPendingInvitations: "No pending invitations",
  emptyHint: "An invitation link works for one person, within a week.",
};

export const INVITE_DIALOG = {
  invitationLink: "Invitation link",
  sendTo: (email: string) => `Send it to ${email || "the person you invite"}. It works once, within a week.`,
  shownOnlyOnce: "Shown only once",
  link: "Link",
  inviteAMember: "Invite a member",
  createLink: "Create link",
  emailHint: "Optional. The link is sent there if email is set up. Anyone with the link can use it.",
  graceExampleCom: "grace@example.com",
};

export const DELETE_DIALOG = {
  deletionDate: (name: string, date: string) => `${name} is deleted on ${date}, unless an owner cancels the deletion.`,
  delete: (name: string) => `Delete ${name}`,
  deleteOrganization: "Delete organization",
  stepNow: "Now: running work is cancelled, and no new runs start. Owners get an email.",
  stepWaiting: "For a few days: members can look around, and any owner can cancel the deletion. The date is shown here.",
  stepDeletion: "Then: workflows, files, runs, keys, secrets, schedules, hooks and remaining credits are deleted for all members.",
  whatStays: "Ledger amounts and audit entries stay, with IDs only. Workflow names stay reserved.",
  typeToContinue: (name: string) => `Type ${name} to continue`,
};

export const LEAVING_CARD = {
  deleteOrganization: "Delete organization",
  deleteHint:
    "This deletes everything permanently for all members, after a few days in which any owner can cancel. To leave it instead, use Members once it has another owner.",
  deletionScheduled: "Deletion is scheduled, as shown above.",
};

export const LEAVING_NOTICE = {
  noRuns: (isOwner: boolean) => `. It can't start runs until then.${isOwner ? "" : " An owner can cancel the deletion."}`,
  willBeDeleted: (name: string) => `${name} will be deleted`,
  deletionCancelled: (name: string) => `Deletion of ${name} cancelled. Schedules and hooks continue.`,
  keepOrganization: "Keep organization",
  deletedPermanently: "It is deleted permanently",
};

export const MEMBERS_TAB = {
  member: "Member",
  you: "(you)",
  roleOf: (email: string) => `Role of ${email}`,
  permissions: "Permissions",
  joined: "Joined",
  leaveOrganization: "Leave organization",
  remove: (email: string) => `Remove ${email}`,
  leave: "Leave",
  roleChanged: (email: string, role: string) => `${email} now has the role ${role}.`,
  leaveQuestion: (name: string) => `Leave ${name}?`,
  removeQuestion: (email: string) => `Remove ${email}?`,
  keysEnd: (isOwn: boolean) =>
    `The API keys that ${isOwn ? "you" : "they"} created for the organization stop working. Workflows, files and runs stay.`,
};

export const ORGANIZATION_PAGE = {
  invitations: "Invitations",
  auditLog: "Audit log",
  settings: "Settings",
  summary: (role: string, tier: string, credits: string) => `Your role: ${role}. Plan: ${tier}. Available: ${credits}.`,
  switchToIt: "Switch to it",
  rename: (name: string) => `Rename ${name}`,
};

export const ORGANIZATIONS_PAGE = {
  toBeDeleted: "to be deleted",
  yourRole: "Your role",
  current: "current",
  switchTo: (name: string) => `Switch to ${name}`,
  switchToIt: "Switch to it",
  intro: "People who share workflows, files, keys, secrets, runs and credits. Your personal account stays separate.",
  createOrganization: "Create organization",
  noOrganizationsYet: "No organizations yet",
  emptyHint: "Create one and invite others, or open an invitation link that you received.",
};

export const ROLES_TEXTS = {
  owner: "Everything, including members, budgets and payments",
  editor: "Builds, publishes and runs workflows; creates keys and secrets",
  runner: "Runs workflows and views everything",
  viewer: "Views everything",
};
