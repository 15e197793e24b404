/** Metadata key of the request's id. */
export const REQUEST_ID_KEY = "x-request-id";
/** Graphs travel as JSON text of up to 8 MB. */
export const MAX_MESSAGE_BYTES = 16 * 1024 * 1024;
