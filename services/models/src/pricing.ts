import {
  megapixelsProblem,
  PRICED_INPUTS,
  propertySchema,
  tableProblem,
  unitPrices,
  type JsonSchema,
  type Price,
  type UnitPrice,
} from "@nodeloom/kernel";

const isBounded = (schema: JsonSchema, name: string): boolean => {
  const property = propertySchema(schema, name);
  const isNumber = property?.type === "integer" || property?.type === "number";
  return isNumber && typeof property.maximum === "number" && typeof property.default === "number";
};

const isBoundedText = (schema: JsonSchema, name: string): boolean => {
  const property = propertySchema(schema, name);
  return property?.type === "string" && typeof property.maxLength === "number";
};

const unitProblem = (price: UnitPrice, inputSchema: JsonSchema): string | undefined => {
  if (price.basis === "run") return undefined;
  const input = PRICED_INPUTS[price.basis];
  if (price.basis === "characters")
    return isBoundedText(inputSchema, input) ? undefined : `a price per 1,000 characters needs a text input "${input}" with a maxLength`;
  // Without a count input, a model generates one image.
  if ((price.basis === "image" || price.basis === "megapixel") && !propertySchema(inputSchema, input)) return undefined;
  return isBounded(inputSchema, input)
    ? undefined
    : `a price per ${price.basis} needs a numeric input "${input}" with a default and a maximum`;
};

/**
 * Returns the reason why a price doesn't fit a model's inputs; undefined if it fits. A run holds its maximum cost, so every quantity in a
 * price needs a default and a maximum.
 */
export const pricingProblem = (price: Price, inputSchema: JsonSchema): string | undefined => {
  const units = unitPrices(price);
  const problem = units.map((unit) => unitProblem(unit, inputSchema)).find((foundPrice) => foundPrice !== undefined);
  if (problem !== undefined) return problem;
  const megapixels = price.basis === "table" ? price.megapixels : undefined;
  const countsPixels = units.some(({ basis }) => basis === "megapixel");
  if (countsPixels && !megapixels) return 'a price per megapixel needs "megapixels", which says what input has the size';
  if (megapixels && !countsPixels) return "megapixels: nothing is priced by them";
  return (
    (megapixels && megapixelsProblem(megapixels, inputSchema)) ?? (price.basis === "table" ? tableProblem(price, inputSchema) : undefined)
  );
};
