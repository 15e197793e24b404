export const FORMAT = {
  ms: (ms: number) => `${ms} ms`,
  seconds: (seconds: number) => `${seconds} s`,
  minutes: (minutes: number, seconds: number) => `${minutes} min ${seconds} s`,
};

export const SCHEMA_CONTROL = {
  to: (minimum: number, maximum: number) => `${minimum} to ${maximum}`,
  atLeast: (minimum: number) => `at least ${minimum}`,
  atMost: (maximum: number) => `at most ${maximum}`,
  notSet: "Not set",
  default: (placeholder: string) => `Default: ${placeholder}`,
  httpsOrMediaId: "https://… or media ID",
};

export const VALUE_INPUTS = {
  invalidNumber: "Enter a number. The last valid value is kept.",
  invalidJson: "Enter valid JSON. The last valid value is kept.",
};
