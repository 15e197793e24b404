/** One chunk for both pages, because each chunk makes the first page of the console larger. */
export { ApprovalsPage } from "./approvals-page";
export { DecidePage } from "./decide-page";
