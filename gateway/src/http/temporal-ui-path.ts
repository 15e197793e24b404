/** Path of Temporal's UI on its listener; Temporal's server has the same setting. */
export const TEMPORAL_UI_PATH = "/temporal";
