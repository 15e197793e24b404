import type { Reason } from "@nodeloom/kernel";
import { ACCESS_ERRORS } from "./error-table/access";
import type { ErrorEntry } from "./error-table/entry";
import { FAILURES } from "./error-table/failures";
import { REQUEST_ERRORS } from "./error-table/requests";
import { RESOURCE_ERRORS } from "./error-table/resources";

/** Every error code with its HTTP status and documentation. docs/guide/errors.md and a page per code are generated from it. */
export const ERRORS: Readonly<Record<Reason, ErrorEntry>> = { ...REQUEST_ERRORS, ...ACCESS_ERRORS, ...RESOURCE_ERRORS, ...FAILURES };

/** Codes that aren't sent: the body has only `error`. */
export const WITHOUT_CODE: ReadonlySet<Reason> = new Set<Reason>(["WORKFLOW_NOT_FOUND"]);
