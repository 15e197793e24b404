export const CONFLICTS = {
  merged: "Merged changes made elsewhere.",
  restored: "Restored unsaved changes of your last visit.",
  conflictingChanges: "Conflicting changes",
  saveChoices: "Save choices",
  conflictHint:
    "Someone, or another tab of yours, saved different values for the same settings. All other changes are merged. Nothing is saved until you choose. You can undo your choice.",
  yours: "Yours",
  theirs: "Theirs",
};

export const USE_AS_API = {
  curl: "curl",
  typeScript: "TypeScript",
  python: "Python",
  useAsApi: "Use as API",
  intro: "Call this run from your own program. The request waits for the result. Add",
  introPolling: "to poll, or to receive a webhook.",
  callersRunVersion: "Callers run version",
  publishHint: ". Publish your changes to make them available.",
  createKey: "Create key",
  keyScopeHint: "It can run only this workflow. Or use a key that",
  youAlreadyHave: "you already have",
  keyShownOnce: "The key below is shown only once",
  keyShownOnceHint: "Copy the call, or the key in it. Only the key's hash is stored.",
  environment: "Environment",
  version: (name: string) => `${name} (version`,
  language: "Language",
  example: (language: string) => `${language} example`,
  allEndpointsHint: "Find all endpoints in the",
  apiReference: "API reference",
};

export const LISTS = {
  commands: "Commands",
  searchCommandsAndNodes: "Search commands, nodes and everything else",
  noMatches: "Nothing matches. Try fewer words, or a part of a name.",
  findANode: "Find a node",
  findPlaceholder: "Name, text, model or setting",
  noMatchingNodes: "No matching nodes.",
  remove: (source: string, target: string, targetHandle: string) => `Remove: ${source} → ${target}: ${targetHandle}`,
  removeLink: "Remove link",
  replacesItsLink: "· replaces its link",
  connectTo: "Connect to…",
  linkPlaceholder: "Port, node or “remove”",
  nothingToLink: "Select a node with an output first, or add a node that accepts it.",
  keyboardShortcuts: "Keyboard shortcuts",
};

export const SETTINGS_DIALOG = {
  keepRunsForDays: "Keep runs for days",
  keepRunsHint:
    "Counted from the end of a run. Leave empty for the limit of this installation. With 0, only the result stays, for 28 hours.",
  workflowSettings: "Workflow settings",
  addressStays: (slug: string) => `The address stays /api/workflows/${slug}.`,
  tags: "Tags",
  separateWithCommas: "Separate with commas.",
  publicPlayground: "Public playground",
  playgroundHint: "Anyone can see the inputs at the address below. To run it, visitors sign in.",
  app: "App",
  appHint: "A page for people without an account. You can embed it in your own pages.",
  publishAsAnApp: "Publish as an app…",
  agentTool: "Agent tool",
  agentToolHint: "Agents connected with one of your keys can call it as a tool (see Agents).",
  templateRemoved: "An administrator removed this template",
  templateHint: "Everyone can see, run and copy it under Templates.",
};
