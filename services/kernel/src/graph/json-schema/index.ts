/**
 * JSON Schema 2020-12, interpreted: nothing is compiled, and every step of the work is counted. Users write schemas of
 * answers, which are read within bounds; operators write those of model inputs.
 */
export { ANSWER_WORK, jsonInAnswer, readAnswer, type ReadAnswer } from "./answer";
export { createInputCheck } from "./inputs";
export { SCHEMA_BOUNDS, schemaProblems } from "./read";
export { strictSchemaProblems } from "./strict";
export { schemaViolations } from "./validate";
