/**
 * JSON Schema 2020-12, interpreted instead of compiled so that work can be counted. Schemas of answers come from users and have bounds.
 * Schemas of model inputs come from operators.
 */
export { ANSWER_WORK, jsonInAnswer, readAnswer, type ReadAnswer } from "./answer";
export { createInputCheck } from "./inputs";
export { SCHEMA_BOUNDS, schemaProblems } from "./read";
export { strictSchemaProblems } from "./strict";
export { schemaViolations } from "./validate";
