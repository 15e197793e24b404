import { SOURCE } from "../messages/runs";
const SOURCES: Readonly<Record<string, string>> = { canvas: "console", "api-workflow": "API", "api-slim": SOURCE.apiOneModel };

/** Origin of a run, as text. */
export const sourceWords = (source: string): string => SOURCES[source] ?? source;
