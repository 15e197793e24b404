import { plural } from "./forms";
export const APP_FORM = {
  fillInThisField: "Fill in this field.",
};

export const APP_PAGE = {
  ownerPays: "The owner of this app pays for your runs.",
  runsLeft: (count: number) => `You have ${plural(count, "run", "runs")} left today.`,
  creditsLeft: (left: string, daily: string) => `All visitors together have ${left} of ${daily} credits left.`,
  resets: (time: string) => `The limits reset at ${time}.`,
  running: "Running…",
  run: "Run",
  yourPreviousRuns: "Your previous runs",
  runsOfThisAppCost: "Runs of this app cost your own credits. Sign in to use it.",
  openApp: "Open app",
  appNotFound: "App not found",
  cantShowThisApp: "Can't show this app",
  loading: "Loading…",
  moreAppsByThisAccount: "More apps by this account",
};

export const FILE_FIELD = {
  theFileCanHaveAt: (mOSTBYTES: number) => `The file can have at most ${mOSTBYTES} MB.`,
  ifYouChooseNoFile: "If you choose no file, the example is used.",
};

export const GALLERY_PAGE = {
  freeForYou: "Free for you",
  usesYourCredits: "Uses your credits",
  apps: "Apps",
  cantShowTheApps: "Can't show the apps",
  loading: "Loading…",
  thisAccountHasNoPublished: "This account has no published apps.",
};

export const PARTS = {
  itWasRemovedItsAddress: "It was removed, its address changed, or the service is unavailable.",
};

export const PROGRESS = {
  queued: (position: number | undefined) => `Queued${position === undefined ? "" : `, position ${position}`}…`,
  waitingForApproval: "Waiting for approval…",
  running: "Running…",
  finishedSteps: "Finished steps",
  theDailyLimitOfThis: "The daily limit of this app is reached. Try again tomorrow.",
  youHaveUsedAllYour: "You have used all your runs for today. Try again tomorrow.",
  theOwnerOfThisApp: "The owner of this app has no credits left for it.",
  tooManyPeopleAreUsing: "Too many people are using this app. Try again in a minute.",
  thisAppIsNoLonger: "This app is no longer available.",
  cantReachTheServiceWhat: "Can't reach the service. What you typed is kept.",
  runStatus: (status: string) => `Run status: ${status}.`,
};

export const RESULT = {
  result: (index: number) => `Result ${index}`,
  downloadResult: (index: number) => `Download result ${index}`,
};
