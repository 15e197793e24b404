import type { Expression } from "./parse";

const none: readonly string[] = [];

const namesIn = (expression: Expression): readonly string[] => {
  switch (expression.type) {
    case "field":
      return [expression.name];
    case "then":
    case "project":
      return namesIn(expression.left);
    case "filter":
      return namesIn(expression.left);
    case "or":
    case "and":
    case "compare":
      return [...namesIn(expression.left), ...namesIn(expression.right)];
    case "not":
      return namesIn(expression.of);
    case "list":
      return expression.elements.flatMap(namesIn);
    case "object":
      return expression.members.flatMap(([, member]) => namesIn(member));
    case "call":
      return expression.arguments.flatMap(namesIn);
    default:
      return none;
  }
};

/** Names of the members that an expression reads from the value it is applied to, without duplicates. */
export const rootNames = (expression: Expression): string[] => [...new Set(namesIn(expression))];
