import { PRICED_INPUTS, propertySchema, type JsonSchema, type Price } from "@nodeloom/kernel";

const isBounded = (schema: JsonSchema, name: string): boolean => {
  const property = propertySchema(schema, name);
  const isNumber = property?.type === "integer" || property?.type === "number";
  return isNumber && typeof property.maximum === "number" && typeof property.default === "number";
};

const isBoundedText = (schema: JsonSchema, name: string): boolean => {
  const property = propertySchema(schema, name);
  return property?.type === "string" && typeof property.maxLength === "number";
};

/**
 * Why a price can't be applied to a model's inputs, or undefined. A run holds the most it can cost, so every quantity
 * that a price counts needs a default and a maximum.
 */
export const pricingProblem = (price: Price, inputSchema: JsonSchema): string | undefined => {
  if (price.basis === "run") return undefined;
  const input = PRICED_INPUTS[price.basis];
  if (price.basis === "characters")
    return isBoundedText(inputSchema, input) ? undefined : `a price per 1,000 characters needs a text input "${input}" with a maxLength`;
  // Without a count a model makes one image.
  if (price.basis === "image" && !propertySchema(inputSchema, input)) return undefined;
  return isBounded(inputSchema, input)
    ? undefined
    : `a price per ${price.basis} needs a numeric input "${input}" with a default and a maximum`;
};
