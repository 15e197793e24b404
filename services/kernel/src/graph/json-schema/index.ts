/**
 * JSON Schema 2020-12, interpreted instead of compiled, so that work can be counted. Users write schemas of answers, which have bounds.
 * Operators write schemas of model inputs.
 */
export { ANSWER_WORK, jsonInAnswer, readAnswer, type ReadAnswer } from "./answer";
export { createInputCheck } from "./inputs";
export { SCHEMA_BOUNDS, schemaProblems } from "./read";
export { strictSchemaProblems } from "./strict";
export { schemaViolations } from "./validate";
