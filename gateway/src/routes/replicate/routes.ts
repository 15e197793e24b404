import { replicateFileRoutes } from "./files";
import { replicateModelRoutes } from "./models";
import { replicatePredictionRoutes } from "./predictions";
import { replicateStreamRoute } from "./stream";

/** Replicate's API for Nodeloom's models and workflows. */
export const replicateRoutes = [...replicatePredictionRoutes, replicateStreamRoute, ...replicateModelRoutes, ...replicateFileRoutes];
