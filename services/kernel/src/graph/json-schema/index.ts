/** JSON Schemas that users write: read within bounds, and interpreted while every step of the work is counted. */
export { ANSWER_WORK, readAnswer, type ReadAnswer } from "./answer";
export { SCHEMA_BOUNDS, schemaProblems } from "./read";
export { schemaViolations } from "./validate";
