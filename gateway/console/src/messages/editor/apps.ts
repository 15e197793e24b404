export const APP_DIALOG = {
  spentToday: "Spent today",
  noRunsYet: "No runs yet.",
  embedCode: "Embed code",
  embedPreview: "Preview of the embedded app",
  embedPreviewHint: "Runs in the preview count towards the app's limits.",
  noSitesHint: "To embed the app, first list the sites below.",
  allAppsOfThisAccount: "All apps of this account",
  unpublish: "Unpublish",
  publish: "Publish",
  publishAsAnApp: "Publish as an app",
  intro:
    "A page with the form of this workflow. Visitors don't see the graph. It runs the newest version, or the draft if nothing is published.",
  loadFailed: "Can't load the app. Close this dialog and open it again.",
};

export const APP_FORM = {
  cover: "Cover",
  uploadAnImage: "Upload an image",
  replaceImage: "Replace image",
  removeImage: "Remove image",
  creditsPerDay: "Credits per day",
  dailyLimitHint: "For all visitors together. At the limit, runs are rejected until midnight UTC.",
  runsPerVisitorAndDay: "Runs per visitor and day",
  title: "Title",
  whoPays: "Who pays",
  ownerPays: "You: visitors need no account",
  visitorPays: "Each visitor, after signing in (public playground)",
  theme: "Theme",
  matchVisitorsSystem: "Match visitor's system",
  light: "Light",
  dark: "Dark",
  sites: "Sites that can embed it",
  sitesHint: "One per line, such as https://example.com. Their pages can use its tokens.",
};

export const SHARED_ADDRESS = {
  copyAddress: "Copy address",
};
