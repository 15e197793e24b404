export const STATE = {
  olderInProduction: (production: number | null, version: number | null) =>
    `Callers run version ${production}. The newest version is ${version}.`,
  notPublished: "Not published: callers run the draft and get each change when it is saved.",
  draftDiffers: (version: number) => `Callers run version ${version}. The draft has newer changes; runs from the canvas use the draft.`,
  draftIdentical: (version: number) => `Callers run version ${version}. The draft is identical.`,
};

export const VERSION_BUTTON = {
  publish: "Publish",
  version: (production: number) => `Version ${production}`,
  changedSincePublishing: "changed since publishing",
};
