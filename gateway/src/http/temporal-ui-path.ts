/** Where Temporal's UI stands on its listener; its server is told the same. */
export const TEMPORAL_UI_PATH = "/temporal";
