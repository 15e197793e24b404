/** Interprets users' JMESPath expressions, so that their work can be counted. */
export { evaluate } from "./evaluate";
export { EXPRESSION_BOUNDS, expressionProblem, parseExpression, type Expression } from "./parse";
export { rootNames } from "./root-names";
export { shapeOf } from "./shape-of";
export { ExpressionError } from "./tokens";
