import { propertySchema, readWrittenPrice, worstCaseMicroUsd, type WrittenPrice } from "../../../../services/kernel/src";
import type { RegistryFile } from "../requests";

/** Prices of registry entries in the units of LiteLLM's costs. */

export interface PricedEntry extends RegistryFile {
  price: WrittenPrice | null;
}

/** One price that source and entry both state. */
export interface ComparedPrice {
  unit: string;
  ours: number;
  theirs: number;
}

const MICRO = 1_000_000;
const THOUSAND = 1_000;
const RESOLUTION = "resolution";
const COST_OF_RESOLUTION = /^output_cost_per_(second|image)_(\d[\w.]*)$/;
const SECONDS = "seconds";

type Costs = Readonly<Record<string, number>>;

const resolutionsOf = (entry: PricedEntry): string[] => {
  const listed = propertySchema(entry.inputSchema, RESOLUTION)?.enum;
  return Array.isArray(listed) ? listed.map(String) : [];
};

const usdOf = (entry: PricedEntry, inputs: Record<string, unknown>): number => {
  const price = readWrittenPrice(entry.price!);
  return worstCaseMicroUsd({ price, schema: entry.inputSchema, inputs, unknown: new Set(), inputTokens: 0 }) / MICRO;
};

const secondsOf = (entry: PricedEntry): number | undefined => {
  const seconds = propertySchema(entry.inputSchema, SECONDS);
  return typeof seconds?.default === "number" ? seconds.default : undefined;
};

/** Price of one second or image, for one resolution if it is given. */
const each = (entry: PricedEntry, unit: string, inputs: Record<string, unknown>): number | undefined => {
  if (unit === "image") return usdOf(entry, { ...inputs, count: 1 });
  const seconds = secondsOf(entry);
  return seconds === undefined ? undefined : usdOf(entry, { ...inputs, seconds }) / seconds;
};

const byResolution = (entry: PricedEntry, costs: Costs): ComparedPrice[] =>
  Object.entries(costs).flatMap(([name, theirs]) => {
    const [, unit, stated] = COST_OF_RESOLUTION.exec(name) ?? [];
    const resolution = resolutionsOf(entry).find((one) => one.toLowerCase() === stated?.toLowerCase());
    const ours = unit === undefined || resolution === undefined ? undefined : each(entry, unit, { resolution });
    return ours === undefined ? [] : [{ unit: `${unit}, ${resolution}`, ours, theirs }];
  });

const byDefault = (entry: PricedEntry, costs: Costs): ComparedPrice[] => {
  const second = costs.output_cost_per_second ?? costs.output_cost_per_video_per_second;
  const compared = [
    { unit: "image", theirs: costs.output_cost_per_image },
    { unit: "second", theirs: second },
  ];
  return compared.flatMap(({ unit, theirs }) => {
    const ours = theirs === undefined ? undefined : each(entry, unit, {});
    return ours === undefined ? [] : [{ unit, ours, theirs: theirs! }];
  });
};

/** Prices that can be compared: per token, character, second or image. Prices in other units are omitted. */
export const comparedPrices = (entry: PricedEntry, costs: Costs): ComparedPrice[] => {
  const { price } = entry;
  if (price === null) return [];
  if ("inputUsdPerMillionTokens" in price && "outputUsdPerMillionTokens" in price) {
    const tokens = [
      { unit: "million input tokens", ours: price.inputUsdPerMillionTokens, theirs: costs.input_cost_per_token },
      { unit: "million output tokens", ours: price.outputUsdPerMillionTokens, theirs: costs.output_cost_per_token },
    ];
    return tokens.flatMap((one) => (one.theirs === undefined ? [] : [{ ...one, theirs: one.theirs * MICRO }]));
  }
  if ("perThousandCharactersUsd" in price) {
    const theirs = costs.input_cost_per_character;
    return theirs === undefined ? [] : [{ unit: "thousand characters", ours: price.perThousandCharactersUsd, theirs: theirs * THOUSAND }];
  }
  const resolutions = byResolution(entry, costs);
  return resolutions.length > 0 ? resolutions : byDefault(entry, costs);
};
