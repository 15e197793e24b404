/** The choice of a model, and settings on nodes. */
export const MODELS_DIALOG = {
  chooseAModel: "Choose a model",
  chosen: "chosen",
  price: "Price",
  speed: "Speed",
  notRunYet: "not run here yet",
  about: (time: string) => `about ${time}`,
  runsAt: "Runs at",
  plan: "Plan",
  from: (tier: string) => `from ${tier}`,
  noneIsReady: "No model is ready",
  now: (model: string) => `Now ${model}`,
  searchModels: "Search models",
  automaticChoices: "Automatic",
  automatic: (summary: string) => `Automatic: ${summary}`,
  models: "Models",
  noMatch: (query: string) => `No model matches “${query}”.`,
};

export const NODE_SETTINGS = {
  on: "on",
  off: "off",
  any: "any",
  auto: "auto",
  byDefault: (value: string) => `${value} (default)`,
  rollTheDice: "Roll the dice",
  newSeed: "New seed",
};
