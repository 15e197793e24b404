export * from "./capabilities";
export * from "./errors";
export * from "./limits";
export * from "./money";
export * from "./plans";
export * from "./retention";
export * from "./graph";
export * from "./schema";
