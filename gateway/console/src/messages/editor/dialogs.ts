export const CONFLICTS = {
  mergedChangesMadeElsewhere: "Merged changes made elsewhere.",
  restoredUnsavedChangesOfYour: "Restored unsaved changes of your last visit.",
  conflictingChanges: "Conflicting changes",
  saveChoices: "Save choices",
  someoneOrAnotherTabOf:
    "Someone, or another tab of yours, saved different values for the same settings. All other changes are merged. Nothing is saved until you choose. You can undo your choice.",
  yours: "Yours",
  theirs: "Theirs",
};

export const USE_AS_API = {
  curl: "curl",
  typeScript: "TypeScript",
  python: "Python",
  useAsApi: "Use as API",
  callThisRunFromYour: "Call this run from your own program. The request waits for the result. Add",
  toPollOrToReceive: "to poll, or to receive a webhook.",
  callersRunVersion: "Callers run version",
  publishYourChangesToMake: ". Publish your changes to make them available.",
  createKey: "Create key",
  itCanRunOnlyThis: "It can run only this workflow. Or use a key that",
  youAlreadyHave: "you already have",
  theKeyBelowIsShown: "The key below is shown only once",
  copyTheCallOrThe: "Copy the call, or the key in it. Only the key's hash is stored.",
  environment: "Environment",
  version: (name: string) => `${name} (version`,
  language: "Language",
  example: (language: string) => `${language} example`,
  findAllEndpointsInThe: "Find all endpoints in the",
  apiReference: "API reference",
};
