const SOURCES: Readonly<Record<string, string>> = { canvas: "console", "api-workflow": "API", "api-slim": "API, one model" };

/** Where a run was started, in words. */
export const sourceWords = (source: string): string => SOURCES[source] ?? source;
