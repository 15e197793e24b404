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

export const LISTS = {
  commands: "Commands",
  searchCommandsAndNodes: "Search commands and nodes",
  noMatchingCommandsOrNodes: "No matching commands or nodes.",
  goTo: (title: string) => `Go to ${title}`,
  findANode: "Find a node",
  nameTextModelOrSetting: "Name, text, model or setting",
  noMatchingNodes: "No matching nodes.",
  remove: (source: string, target: string, targetHandle: string) => `Remove: ${source} → ${target}: ${targetHandle}`,
  removeLink: "Remove link",
  replacesItsLink: "· replaces its link",
  connectTo: "Connect to…",
  portNodeOrRemove: "Port, node or “remove”",
  selectANodeWithAn: "Select a node with an output first, or add a node that accepts it.",
  keyboardShortcuts: "Keyboard shortcuts",
};

export const SETTINGS_DIALOG = {
  keepRunsForDays: "Keep runs for days",
  keepRunsHint:
    "Counted from the end of a run. Leave empty for the limit of this installation. With 0, only the result stays, for 28 hours.",
  workflowSettings: "Workflow settings",
  theAddressStaysApiWorkflows: (slug: string) => `The address stays /api/workflows/${slug}.`,
  tags: "Tags",
  separateWithCommas: "Separate with commas.",
  publicPlayground: "Public playground",
  anyoneCanSeeTheInputs: "Anyone can see the inputs at the address below. To run it, visitors sign in.",
  app: "App",
  aPageForPeopleWithout: "A page for people without an account. You can embed it in your own pages.",
  publishAsAnApp: "Publish as an app…",
  agentTool: "Agent tool",
  agentsConnectedWithOneOf: "Agents connected with one of your keys can call it as a tool (see Agents).",
  anAdministratorRemovedThisTemplate: "An administrator removed this template",
  everyoneCanSeeRunAnd: "Everyone can see, run and copy it under Templates.",
};
