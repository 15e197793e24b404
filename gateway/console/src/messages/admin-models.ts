import { plural } from "./forms";

export const FALLBACK_DIALOG = {
  fallbackModelsFor: (displayName: string) => `Fallback models for ${displayName}`,
  noFallbackModels: "No fallback models.",
  saved: "New runs use these fallback models.",
  scopeHint: "Applies to direct runs of the model, and to nodes without their own fallback models.",
};

export const MODELS = {
  notJson: "This isn't valid JSON.",
  usdPerRun: "USD per run",
  usdPerImage: "USD per image",
  usdPerSecond: "USD per second",
  usdPer1000Characters: "USD per 1,000 characters",
  usdPerMillionInputTokens: "USD per million input tokens",
  usdPerMillionOutputTokens: "USD per million output tokens",
  priceOf: (displayName: string) => `Price of ${displayName}`,
  priceSaved: "New runs use this price.",
  priceHint: "The provider's price. Each plan adds its markup.",
  pricesByInputsJson: "Prices by inputs (JSON)",
  type: "Type",
  enabled: "Enabled",
  enable: (displayName: string) => `Enable ${displayName}`,
  enabledNotice: (name: string, isOn: boolean) => `${name} ${isOn ? "enabled" : "disabled"}.`,
  minimumPlan: "Minimum plan",
  minimumPlanOf: (displayName: string) => `Minimum plan of ${displayName}`,
  minimumPlanChanged: "Minimum plan changed.",
  fallbackModels: "Fallback models",
  fallbackModelsOf: (names: string, displayName: string) => `Fallback models of ${displayName}: ${names}`,
  prices: (count: number) => `${plural(count, "price", "prices")}`,
  usd: (prices: string) => `${prices || "no"} USD`,
};

export const MODEL_ORDERS = {
  currentDefault: "Current default",
  moveToTheTop: (displayName: string) => `Move ${displayName} to the top`,
  moveUp: (displayName: string) => `Move ${displayName} up`,
  moveDown: (displayName: string) => `Move ${displayName} down`,
  orderForChanged: (name: string) => `Order for ${name} changed.`,
  resetToBuiltInOrder: "Reset to built-in order",
  empty: "No model does this task.",
  modelsFor: (name: string) => `Models for ${name}`,
  intro: "A node that names a task uses the first model in this order that is ready and included in the user's plan.",
};
