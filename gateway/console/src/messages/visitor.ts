import { plural } from "./forms";
export const APP_FORM = {
  fillIn: "Fill in this field.",
};

export const APP_PAGE = {
  ownerPays: "The owner of this app pays for your runs.",
  runsLeft: (count: number) => `You have ${plural(count, "run", "runs")} left today.`,
  creditsLeft: (left: string, daily: string) => `All visitors together have ${left} of ${daily} credits left.`,
  resets: (time: string) => `The limits reset at ${time}.`,
  running: "Running…",
  run: "Run",
  earlier: "Your previous runs",
  signIn: "Runs of this app cost your own credits. Sign in to use it.",
  openApp: "Open app",
  appNotFound: "App not found",
  cantShow: "Can't show this app",
  loading: "Loading…",
  moreApps: "More apps by this account",
};

export const FILE_FIELD = {
  tooLarge: (most: number, count: number) =>
    count === 1 ? `The file can have at most ${most} MB.` : `The files together can have at most ${most} MB.`,
  tooMany: (most: number) => `Choose at most ${plural(most, "file", "files")}.`,
  unreadable: "The file can't be read. Choose it again.",
  noFile: "Run without a file",
  example: "If you choose no file, the example is used.",
};

export const GALLERY_PAGE = {
  freeForYou: "Free for you",
  youPay: "Uses your credits",
  apps: "Apps",
  cantShow: "Can't show the apps",
  loading: "Loading…",
  empty: "This account has no published apps.",
};

export const PARTS = {
  gone: "It was removed, its address changed, or the service is unavailable.",
};

export const PROGRESS = {
  queued: (position: number | undefined) => `Queued${position === undefined ? "" : `, position ${position}`}…`,
  waiting: "Waiting for approval…",
  running: "Running…",
  finishedSteps: "Finished steps",
  appSpent: "The daily limit of this app is reached. Try again tomorrow.",
  visitorSpent: "You have used all your runs for today. Try again tomorrow.",
  ownerSpent: "The owner of this app has no credits left for it.",
  busy: "Too many people are using this app. Try again in a minute.",
  gone: "This app is no longer available.",
  offline: "Can't reach the service. What you typed is kept.",
  runStatus: (status: string) => `Run status: ${status}.`,
};

export const RESULT = {
  result: (index: number) => `Result ${index}`,
  downloadResult: (index: number) => `Download result ${index}`,
};
