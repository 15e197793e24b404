const SOURCES: Readonly<Record<string, string>> = { canvas: "console", "api-workflow": "API", "api-slim": "API, one model" };

/** Origin of a run, as text. */
export const sourceWords = (source: string): string => SOURCES[source] ?? source;
