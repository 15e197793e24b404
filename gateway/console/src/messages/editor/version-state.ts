export const STATE = {
  callersRunVersionTheNewest: (production: number | null, version: number | null) =>
    `Callers run version ${production}. The newest version is ${version}.`,
  notPublishedCallersRunThe: "Not published: callers run the draft and get each change when it is saved.",
  callersRunVersionTheDraft: (version: number) =>
    `Callers run version ${version}. The draft has newer changes; runs from the canvas use the draft.`,
  callersRunVersionTheDraft2: (version: number) => `Callers run version ${version}. The draft is identical.`,
};

export const VERSION_BUTTON = {
  publish: "Publish",
  version: (production: number) => `Version ${production}`,
  changedSincePublishing: "changed since publishing",
};
