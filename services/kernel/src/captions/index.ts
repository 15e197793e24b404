export * from "./cues";
export { brokenInto } from "./lines";
