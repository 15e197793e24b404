import type { Model, TierPrice } from "@nodeloom/client";
import { creditNumber } from "../ui/format";
import { PRICES } from "../messages/api";

type Table = Extract<TierPrice, { table: unknown }>;
type Unit = Omit<Table["table"][number], "when">;

const PER: readonly (readonly [keyof Unit, string])[] = [
  ["perRunCredits", PRICES.perRun],
  ["perImageCredits", PRICES.perImage],
  ["perSecondCredits", PRICES.perSecond],
  ["perMegapixelCredits", PRICES.perMegapixel],
  ["perThousandCharactersCredits", "per 1,000 characters"],
  ["inputCreditsPerMillionTokens", PRICES.perMillionInputTokens],
  ["outputCreditsPerMillionTokens", PRICES.perMillionOutputTokens],
];

/** Range of the product of a price's factors. */
const factorRange = ({ factors = [] }: Table): readonly [least: number, most: number] => [
  factors.reduce((product, { times }) => product * Math.min(1, times), 1),
  factors.reduce((product, { times }) => product * Math.max(1, times), 1),
];

const span = (amounts: readonly number[], [least, most]: readonly [number, number]): string => {
  const [from, to] = [Math.min(...amounts) * least, Math.max(...amounts) * most];
  return from === to ? PRICES.credits(from, creditNumber(from)) : PRICES.fromToCredits(creditNumber(from), creditNumber(to));
};

/** A model's price in credits: "3 credits an image", or "from 3 to 12 credits a second" if it depends on the inputs. */
export const priceWords = ({ tierPrice }: Pick<Model, "tierPrice">): string => {
  if (tierPrice === null) return PRICES.priceNotSet;
  const [rows, factors] = "table" in tierPrice ? [tierPrice.table, factorRange(tierPrice)] : [[tierPrice as Unit], [1, 1] as const];
  const amountsOf = (name: keyof Unit): number[] => rows.flatMap((row: Unit) => row[name] ?? []);
  if (PER.every(([name]) => amountsOf(name).every((amount) => amount === 0))) return "free";
  return PER.flatMap(([name, per]) => {
    const amounts = amountsOf(name);
    return amounts.length === 0 ? [] : [`${span(amounts, factors)} ${per}`];
  }).join(", ");
};
