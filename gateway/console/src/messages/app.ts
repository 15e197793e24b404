export const ACCOUNT_SWITCH = {
  personalAccount: "Personal account",
  account: (name: string) => `Account: ${name}`,
};

export const NAVIGATION = {
  credits: "credits",
  heldByRuns: (heldCredits: string) => `${heldCredits} held by runs`,
  available: "available",
  search: "Search",
  documentation: "Documentation",
  light: "Light",
  dark: "Dark",
  matchSystem: "Match system",
  signOut: "Sign out",
  main: "Main",
  nodeloomYourWorkflows: "Nodeloom: your workflows",
  closeMenu: "Close menu",
};

export const ROUTER = {
  administration: "Administration",
};

export const SHELL = {
  skipToContent: "Skip to content",
};

export const SIGN_IN_AGAIN = {
  signInAgain: "Sign in again",
  sessionEnded: "Your session ended. Sign in to continue where you left off.",
};

export const WAITING_COUNT = {
  waiting: (waiting: number) => `${waiting} waiting`,
};
