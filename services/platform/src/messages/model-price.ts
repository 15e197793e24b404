import { fromUsd, MICRO_USD_PER_USD, readWrittenPrice, writePrice, type Price, type WrittenPrice } from "@nodeloom/kernel";
import type { models } from "@nodeloom/proto";
import { z } from "zod";

/** Prices of models in calls between services, in registry entries and in the API. */

/** With this bound, a run with many such units at the highest markup still fits billing's integers. */
export const MAX_PRICE_USD = 1_000;
/** Tolerance for floating-point noise, in micro-dollars. */
const ROUNDING = 1e-6;
const MAX_ROWS = 100;
const MAX_PARTS = 20;
const MAX_SIZES = 100;
const MAX_FACTOR = 100;
const MAX_PIXELS = 100_000;

const usd = z
  .number()
  .min(0)
  .max(MAX_PRICE_USD)
  .refine((value) => Math.abs(value * MICRO_USD_PER_USD - fromUsd(value)) < ROUNDING, "must be whole micro-dollars (at most six decimals)");

const input = z.string().regex(/^[A-Za-z_]\w{0,99}$/, "must be the name of an input");
const scalar = z.union([z.string().max(200), z.number(), z.boolean()]);
const condition = z.union([
  scalar,
  z.array(scalar).min(1).max(MAX_PARTS),
  z.strictObject({ given: z.boolean() }),
  z.strictObject({ atMost: z.number() }),
]);
const when = z.record(input, condition).refine((value) => Object.keys(value).length > 0, "must name an input");
const pixels = z.number().int().min(1).max(MAX_PIXELS);

const modifiers = {
  factors: z
    .array(z.strictObject({ when, times: z.number().min(0).max(MAX_FACTOR) }))
    .min(1)
    .max(MAX_PARTS)
    .optional(),
  megapixels: z
    .strictObject({
      width: input.optional(),
      height: input.optional(),
      size: input.optional(),
      sizes: z
        .record(z.string().max(100), z.array(pixels).length(2))
        .refine((value) => Object.keys(value).length <= MAX_SIZES, `must be at most ${MAX_SIZES}`)
        .optional(),
      most: z.number().positive().max(1_000).optional(),
      pixels: z.number().int().min(1_000).optional(),
      roundUp: z.boolean().optional(),
    })
    .optional(),
  actual: z
    .array(
      z
        .strictObject({
          at: z.string().regex(/^\/.+$/, "must be a JSON pointer"),
          eachUsd: z.number().min(0).max(MAX_PRICE_USD).optional(),
          perMillionUsd: usd.optional(),
        })
        .refine(
          ({ eachUsd, perMillionUsd }) => (eachUsd === undefined) !== (perMillionUsd === undefined),
          "must have eachUsd or perMillionUsd",
        ),
    )
    .min(1)
    .max(MAX_PARTS)
    .optional(),
};

const units = {
  perRunUsd: usd.optional(),
  perImageUsd: usd.optional(),
  perSecondUsd: usd.optional(),
  perMegapixelUsd: usd.optional(),
  perThousandCharactersUsd: usd.optional(),
  inputUsdPerMillionTokens: usd.optional(),
  outputUsdPerMillionTokens: usd.optional(),
};
const TOKENS = ["inputUsdPerMillionTokens", "outputUsdPerMillionTokens"];
const ONE_UNIT = `must have one price: ${Object.keys(units).slice(0, -2).join(", ")}, or both of ${TOKENS.join(" and ")}`;

const hasOneUnit = (value: object): boolean => {
  const unitNames = Object.keys(value).filter((name) => Object.hasOwn(units, name));
  return unitNames.length === 1
    ? !TOKENS.includes(unitNames[0]!)
    : unitNames.length === 2 && unitNames.every((name) => TOKENS.includes(name));
};

const row = z.strictObject({ when: when.optional(), ...units }).refine(hasOneUnit, ONE_UNIT);
/** A price that depends on inputs. */
export const priceTable = z.strictObject({ table: z.array(row).min(1).max(MAX_ROWS), ...modifiers });

/** A wholesale price in written form: one unit, or a table. */
export const writtenPrice = z
  .strictObject({ table: priceTable.shape.table.optional(), ...units, ...modifiers })
  .refine((value) => (value.table === undefined ? hasOneUnit(value) : !Object.keys(value).some((name) => Object.hasOwn(units, name))), {
    error: `${ONE_UNIT}, or a table of them`,
  }) as unknown as z.ZodType<WrittenPrice>;

/** Converts a price to a message for another service. Tables keep their written form. */
export const storedPrice = (price: Price): models.Price => {
  switch (price.basis) {
    case "run":
      return { basis: { $case: "perRunMicroUsd", value: price.microUsd } };
    case "image":
      return { basis: { $case: "perImageMicroUsd", value: price.microUsd } };
    case "second":
      return { basis: { $case: "perSecondMicroUsd", value: price.microUsd } };
    case "characters":
      return { basis: { $case: "perThousandCharactersMicroUsd", value: price.microUsdPerThousand } };
    case "tokens": {
      const { inputMicroUsdPerMillion, outputMicroUsdPerMillion } = price;
      return { basis: { $case: "tokens", value: { inputMicroUsdPerMillion, outputMicroUsdPerMillion } } };
    }
    case "megapixel":
    case "table":
      return { basis: { $case: "tableJson", value: JSON.stringify(writePrice(price, "Usd", (microUsd) => microUsd / MICRO_USD_PER_USD)) } };
  }
};

/** Converts a registered price to the kernel's form; undefined if it has no basis. */
export const readPrice = (stored: models.Price | undefined): Price | undefined => {
  const basis = stored?.basis;
  switch (basis?.$case) {
    case "perRunMicroUsd":
      return { basis: "run", microUsd: basis.value };
    case "perImageMicroUsd":
      return { basis: "image", microUsd: basis.value };
    case "perSecondMicroUsd":
      return { basis: "second", microUsd: basis.value };
    case "perThousandCharactersMicroUsd":
      return { basis: "characters", microUsdPerThousand: basis.value };
    case "tokens": {
      const { inputMicroUsdPerMillion, outputMicroUsdPerMillion } = basis.value;
      return { basis: "tokens", inputMicroUsdPerMillion, outputMicroUsdPerMillion };
    }
    case "tableJson":
      return readWrittenPrice(writtenPrice.parse(JSON.parse(basis.value)));
    case undefined:
      return undefined;
  }
};
