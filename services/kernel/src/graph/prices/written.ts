import { MICRO_USD_PER_USD } from "../../credits/money";
import type { Megapixels } from "./megapixels";
import type { Price } from "./price";
import type { Conditions, TablePrice } from "./table";
import type { UnitPrice } from "./unit";

/** Prices as registry entries and the API write them, in dollars or credits per unit. */

type Money = "Usd" | "Credits";
export type WrittenUnit<Unit extends Money = "Usd"> =
  | { [Name in `perRun${Unit}`]: number }
  | { [Name in `perImage${Unit}`]: number }
  | { [Name in `perSecond${Unit}`]: number }
  | { [Name in `perMegapixel${Unit}`]: number }
  | { [Name in `perThousandCharacters${Unit}`]: number }
  | { [Name in `${"input" | "output"}${Unit}PerMillionTokens`]: number };

interface Modifiers<Unit extends Money> {
  factors?: readonly { when: Conditions; times: number }[] | undefined;
  megapixels?: Megapixels | undefined;
  /** Each entry has exactly one of the amounts. */
  actual?: readonly ({ at: string } & { [Name in `each${Unit}` | `perMillion${Unit}`]?: number | undefined })[] | undefined;
}
export interface WrittenTable<Unit extends Money = "Usd"> extends Modifiers<Unit> {
  table: readonly (WrittenUnit<Unit> & { when?: Conditions | undefined })[];
}
/** A unit price or a table. */
export type WrittenPrice<Unit extends Money = "Usd"> = WrittenUnit<Unit> | (WrittenUnit<Unit> & Modifiers<Unit>) | WrittenTable<Unit>;

const MILLION = 1_000_000;
const UNITS = { run: "perRun", image: "perImage", second: "perSecond", megapixel: "perMegapixel" } as const;
const CHARACTERS = "perThousandCharacters";

const micro = (usd: number): number => Math.round(usd * MICRO_USD_PER_USD);
/** Unit amounts, such as a price per token, can be fractions of a micro-dollar. */
const microEach = (usd: number): number => Number((usd * MICRO_USD_PER_USD).toPrecision(12));

const readUnit = (writtenPrice: WrittenUnit): UnitPrice => {
  const amount = (name: string): number => micro((writtenPrice as Readonly<Record<string, number>>)[name]!);
  for (const [basis, name] of Object.entries(UNITS) as [keyof typeof UNITS, string][])
    if (Object.hasOwn(writtenPrice, `${name}Usd`)) return { basis, microUsd: amount(`${name}Usd`) };
  if (Object.hasOwn(writtenPrice, `${CHARACTERS}Usd`)) return { basis: "characters", microUsdPerThousand: amount(`${CHARACTERS}Usd`) };
  return {
    basis: "tokens",
    inputMicroUsdPerMillion: amount("inputUsdPerMillionTokens"),
    outputMicroUsdPerMillion: amount("outputUsdPerMillionTokens"),
  };
};

const MODIFIERS = ["factors", "megapixels", "actual"] as const;

/** Converts a validated written price into the kernel's form. */
export const readWrittenPrice = (writtenPrice: WrittenPrice): Price => {
  const hasModifier = MODIFIERS.some((name) => (writtenPrice as Partial<WrittenTable>)[name] !== undefined);
  if (!("table" in writtenPrice) && !hasModifier) return readUnit(writtenPrice);
  const { table = [writtenPrice as WrittenUnit], factors, megapixels, actual } = writtenPrice as Partial<WrittenTable>;
  return {
    basis: "table",
    rows: table.map((row) => {
      const { when } = row as { when?: Conditions };
      return { ...(when === undefined ? {} : { when }), price: readUnit(row) };
    }),
    ...(factors ? { factors } : {}),
    ...(megapixels ? { megapixels } : {}),
    ...(actual
      ? {
          actual: actual.map(({ at, eachUsd, perMillionUsd = 0 }) => ({ at, microUsdEach: microEach(eachUsd ?? perMillionUsd / MILLION) })),
        }
      : {}),
  };
};

const writeUnit = (price: UnitPrice, unit: Money, amount: (microUsd: number) => number): Record<string, number> => {
  if (price.basis === "characters") return { [`${CHARACTERS}${unit}`]: amount(price.microUsdPerThousand) };
  if (price.basis !== "tokens") return { [`${UNITS[price.basis]}${unit}`]: amount(price.microUsd) };
  return {
    [`input${unit}PerMillionTokens`]: amount(price.inputMicroUsdPerMillion),
    [`output${unit}PerMillionTokens`]: amount(price.outputMicroUsdPerMillion),
  };
};

const writeTable = ({ rows, factors, megapixels, actual }: TablePrice, unit: Money, amount: (microUsd: number) => number): object => ({
  table: rows.map(({ when, price }) => ({ ...(when === undefined ? {} : { when }), ...writeUnit(price, unit, amount) })),
  ...(factors ? { factors } : {}),
  ...(megapixels ? { megapixels } : {}),
  ...(actual ? { actual: actual.map(({ at, microUsdEach }) => ({ at, [`each${unit}`]: amount(microUsdEach) })) } : {}),
});

/**
 * Converts a price into its written form, the inverse of `readWrittenPrice`.
 * @param amount converts micro-dollars into the unit
 */
export const writePrice = <Unit extends Money>(price: Price, unit: Unit, amount: (microUsd: number) => number): WrittenPrice<Unit> =>
  (price.basis === "table" ? writeTable(price, unit, amount) : writeUnit(price, unit, amount)) as WrittenPrice<Unit>;
