export { evaluate } from "./evaluate";
export { EXPRESSION_BOUNDS, parseExpression, type Expression } from "./parse";
export { ExpressionError } from "./tokens";
