/** JMESPath expressions that users write, interpreted while their work is counted. */
export { evaluate } from "./evaluate";
export { EXPRESSION_BOUNDS, parseExpression, type Expression } from "./parse";
export { shapeOf } from "./shape-of";
export { ExpressionError } from "./tokens";
