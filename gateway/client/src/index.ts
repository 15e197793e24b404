export * from "./browser";
export * from "./webhook";
