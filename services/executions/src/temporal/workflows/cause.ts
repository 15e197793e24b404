import { ActivityFailure } from "@temporalio/workflow";

/** Why a call failed: the failure of an activity carries it; that of a call in the workflow task is it. */
export const causeOf = (error: unknown): unknown => (error instanceof ActivityFailure ? error.cause : error);
