import { plural } from "./forms";
export const ACCOUNT_PAGE = {
  matchSystem: "Match system",
  light: "Light",
  dark: "Dark",
  yourFiles: "Your files",
  used: (used: string, quota: string) => `${used}${quota && ` of ${quota}`} kept`,
  noFilesYet: "No files yet",
  noFilesHint: "Files that you upload and files that runs make appear here.",
  kept: "kept",
  keptFileHint: "The file stays until you delete it.",
  keep: "Keep",
  delete: (file: string, bytes: string) => `Delete “${file}”, ${bytes}`,
  fileDeleted: "File deleted.",
  profile: "Profile",
  approved: "Approved",
  company: "Company",
  notVerified: ", not verified",
  held: (credits: string, heldCredits: string) => `${credits}, ${heldCredits} held`,
  id: "ID",
  thisSession: "This session",
  appearance: "Appearance",
};

export const DELETE_DIALOG = {
  deletionDate: (date: string) => `The account is deleted on ${date}, unless you cancel the deletion.`,
  deleteAccount: "Delete account",
  stepNow: "Now: running work is cancelled, and you can't start new runs.",
  stepWaiting: "For a few days: you can sign in and cancel the deletion. The date is shown here.",
  stepDeletion: "Then: workflows, templates, runs, files, keys, secrets, schedules, hooks and remaining credits are deleted.",
  whatStays: "Ledger amounts and audit entries stay, with an ID instead of your name. Workflow names stay reserved.",
};

export const EXPORT_CARD = {
  exportData: "Export data",
  contents:
    "A ZIP file with your workflows and their versions, runs, usage, ledger, settings and files. Keys and secrets are listed by name only.",
  created: (bytes: string) => `${bytes}, created`,
  availableUntil: ". Available until",
  archiveIncomplete: "The archive is incomplete: its README.txt lists what is missing.",
  creatingTheArchive: "Creating the archive…",
  createArchive: "Create archive",
};

export const LEAVING_CARD = {
  deleteAccount: "Delete account",
  deleteHint: "This deletes everything permanently, after a few days in which you can cancel. Export your data first.",
  administratorHint: "You are an administrator: ask another administrator to remove your role first.",
  deletionScheduled: "This account will be deleted",
  noRunsUntilCancelled: ". You can't start runs until you cancel the deletion.",
  deletionCancelled: "Deletion cancelled. Schedules and hooks continue.",
  keepAccount: "Keep account",
};

export const FORGOT_LINK = {
  forgotYourPassword: "Forgot your password?",
};

export const FORGOT_PAGE = {
  forgotYourPassword: "Forgot your password?",
  sendLink: "Send link",
  intro: "We email you a link to set a new password.",
  linkOnItsWay: (sentTo: string) =>
    `If ${sentTo} belongs to an account with a password, a link is on its way. It works once, within an hour. You can request another in five minutes.`,
  checkYourEmail: "Check your email",
  backToSignIn: "Back to sign-in",
};

export const MAIL_CARD = {
  emailNotifications: "Email notifications",
  confirmed: (email: string) => `${email} confirmed`,
  emailMeAbout: "Email me about",
  saved: "Saved.",
};

export const NOTICES = {
  lowCredits: "Low credits",
  budgetAlerts: "Budget alerts",
  retiringModels: "Retiring models",
  creditsLow: "When less than a tenth of your monthly plan credits is left.",
  budgetAlert: "When spending reaches an alert threshold of a budget.",
  modelRetiring: "30 and 7 days before a provider shuts down a model in your workflows.",
};

export const UNSUBSCRIBE_PAGE = {
  unsubscribe: "Unsubscribe",
  turnedOff: (notice: string) => `“${notice}” is off. You can turn it on again on your account page.`,
  unsubscribed: "Unsubscribed",
  linkIncomplete: "The link is incomplete. Copy the whole link from the email.",
  consequence: "You won't get these emails any more. Links that you request are still sent.",
};

export const UNVERIFIED_NOTICE = {
  linkSentTo: (email: string) =>
    `We sent a link to ${email}. Until you open it, you get no notifications, and resetting your password by email revokes your API keys.`,
  confirmYourEmailAddress: "Confirm your email address",
  linkSent: "Link sent. You can request another in five minutes.",
  sendAgain: "Send the link again",
};

export const VERIFY_PAGE = {
  confirmYourEmailAddress: "Confirm your email address",
  emailAddressConfirmed: "Email address confirmed",
  confirmedHint: "You now get email notifications. Choose them on your account page.",
  linkIncomplete: "The link is incomplete. Copy the whole link from the email.",
  confirmEmailAddress: "Confirm email address",
  question: "Confirm that the email address of this account is yours.",
};

export const PASSWORD_FORM = {
  passwordAndSessions: "Password and sessions",
  changePassword: "Change password",
  passwordChanged: "Password changed. All other sessions are signed out.",
  signOutEverywhere: "Sign out everywhere",
  currentPassword: "Current password",
};

export const PROVIDER_CARD = {
  accountUnlinked: "Account unlinked.",
  unlink: (name: string) => `Unlink ${name}`,
  link: (name: string) => `Link ${name}`,
  confirmUnlink: "Unlink",
  signInWith: (name: string) => `Sign in with ${name}`,
  linked: "Linked",
  linkHint: (name: string) => `Once linked, you can sign in with ${name}, whatever your email address there.`,
  confirmLink: "Link",
};

export const RESET_PAGE = {
  setANewPassword: "Set a new password",
  passwordSet: "Password set",
  allSessionsSignedOut: "All sessions of the account are signed out.",
  linkIncomplete: "The link is incomplete. Copy the whole link that you received.",
  setPassword: "Set password",
};

export const CARD = {
  twoFactorAuthentication: "Two-factor authentication",
  signInThroughProvider: "You sign in through your provider. Two-factor authentication applies to passwords only.",
  turnOnHint: "Signing in then requires your password and a code from an authenticator app.",
  noEncryptionKey: "Not available: this installation has no encryption key for secrets (SECRETS_KEYS). Ask an administrator.",
  codesLeft: (count: number) => `. ${plural(count, "recovery code", "recovery codes")} left.`,
  turnedOn: "Turned on",
  fewRecoveryCodes: "You have few recovery codes left. Turn it off and on again to get ten new ones.",
  turnOn: "Turn on",
  turnOff: "Turn off",
  turnOffTwoFactorAuthentication: "Turn off two-factor authentication",
  twoFactorAuthenticationIsOff: "Two-factor authentication is off.",
};

export const ENROL_DIALOG = {
  scanHint: "Scan the code with an authenticator app, or enter the secret. Then enter the code that the app shows.",
  qrCodeLabel: "QR code of the secret",
  secret: "Secret",
  codeHint: "Six digits that change every 30 seconds.",
  twoFactorAuthenticationIsOn: "Two-factor authentication is on",
  otherSessionsSignedOut: "All other sessions are signed out.",
  recoveryCodesTitle: "Recovery codes, shown only once",
  recoveryCodesHint:
    "Each code works once in place of the app. Store them where you can reach them without your phone: without a code, only an administrator can restore access.",
  recoveryCodes: "Recovery codes",
  twoFactorAuthentication: "Two-factor authentication",
  iSavedThem: "I saved them",
  turnOn: "Turn on",
};

export const SIGN_IN_PAGE = {
  createAccount: "Create account",
  awaitsApproval: "An administrator must approve your account before you can run workflows.",
  tagline: "Build, run and monitor media pipelines.",
  pitchTitle: "Pipelines for text, images, video and audio.",
  pitchText: "Build them on a canvas, see results and cost of each step, and call them over HTTP.",
  notReceivingACode: "Not receiving a code?",
  alreadyHaveAnAccount: "Already have an account?",
  newToNodeloom: "New to Nodeloom?",
  startOver: "Start over",
  suspended: "Your account is suspended",
  suspendedHint: "Ask an administrator to restore it, or sign in with another account.",
  atLeastCharacters: (least: number) => `At least ${least} characters.`,
};
