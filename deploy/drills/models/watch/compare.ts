import { nearestName } from "../../../../services/kernel/src/text/nearest-name";
import { comparedPrices, type PricedEntry } from "./price";
import type { Offer } from "./sources";

/** Kinds of differences between the registry and its sources. */

export type Change = "retiring" | "dearer" | "cheaper" | "renamed" | "new";
export interface Finding {
  change: Change;
  company: string;
  /** An entry's `internalName`, or the provider's id for a new model. */
  model: string;
  text: string;
}

/** Accepts one finding as long as it stays the same. */
export interface Explanation {
  model: string;
  change: Change;
  /** The finding's text without its source. */
  text: string;
  why: string;
}

/** Relative difference that counts as rounding. */
const TOLERANCE = 0.005;
const MODEL_MEMBERS: readonly string[] = ["model", "model_id", "model_name"];

/** The id that an entry sends: an app, or the model in the request; undefined if only the address selects the model. */
export const sentId = ({ provider }: PricedEntry): string | undefined => {
  const { app, model, submit, request } = provider as { app?: string; model?: string; submit?: object; request?: object };
  if (app !== undefined || model !== undefined) return app ?? model;
  const { body, form } = (submit ?? request ?? {}) as { body?: object; form?: object };
  const member = Object.entries(body ?? form ?? {}).find(([name, value]) => MODEL_MEMBERS.includes(name) && typeof value === "string");
  return member?.[1] as string | undefined;
};

/** A line of the list of models seen before. */
export const seenLine = ({ company, id }: Pick<Offer, "company" | "id">): string => `${company} ${id}`;

const usd = (amount: number): string => `$${Number(amount.toPrecision(4))}`;

const priceFindings = (entry: PricedEntry, offer: Offer): Finding[] =>
  comparedPrices(entry, offer.costs)
    .filter(({ ours, theirs }) => Math.abs(theirs - ours) > TOLERANCE * Math.max(theirs, ours))
    .map(({ unit, ours, theirs }) => ({
      change: theirs > ours ? "dearer" : "cheaper",
      company: offer.company,
      model: entry.internalName,
      text: `${usd(theirs)} per ${unit}, in the registry ${usd(ours)}`,
    }));

const retirementFinding = (entry: PricedEntry, { company, retiresOn }: Offer): Finding[] => {
  if (retiresOn === undefined || retiresOn === entry.retiresOn) return [];
  const inRegistry = entry.retiresOn === undefined ? "the registry has no day" : `in the registry ${entry.retiresOn}`;
  return [{ change: "retiring", company, model: entry.internalName, text: `on ${retiresOn}, ${inRegistry}` }];
};

/** An id without the account before its first slash, which fal renames. */
const nameOf = (id: string): string => id.slice(id.indexOf("/") + 1);

const renamedFinding = (entry: PricedEntry, id: string, unseen: readonly Offer[]): Finding => {
  const company = entry.company ?? "";
  const names = unseen.filter((offer) => offer.company === company).map((offer) => offer.id);
  const nearest = names.find((name) => nameOf(name) === nameOf(id)) ?? nearestName(id, names);
  const text = `${id} is no longer listed${nearest === undefined ? "" : `; ${nearest} is new`}`;
  return { change: "renamed", company, model: entry.internalName, text };
};

export interface Comparison {
  entries: readonly PricedEntry[];
  offers: readonly Offer[];
  /** Lines of models that were listed before. */
  earlierLines: ReadonlySet<string>;
}

interface SourcedFinding extends Finding {
  from: string;
}

/** Every difference, most urgent first. `from` names the source. */
export const compare = ({ entries, offers, earlierLines }: Comparison): SourcedFinding[] => {
  const byLine = new Map<string, Offer[]>();
  for (const offer of offers) byLine.set(seenLine(offer), [...(byLine.get(seenLine(offer)) ?? []), offer]);
  const unseen = offers.filter((offer) => !earlierLines.has(seenLine(offer)));
  const ours = new Set<string>();
  const findings: SourcedFinding[] = [];
  const from = ({ source, page }: Offer): string => (page === undefined ? source : `${source}, ${page}`);
  for (const entry of entries) {
    const id = sentId(entry);
    if (id === undefined || entry.company === undefined) continue;
    const line = seenLine({ company: entry.company, id });
    ours.add(line);
    const listed = byLine.get(line) ?? [];
    for (const offer of listed)
      for (const finding of [...retirementFinding(entry, offer), ...priceFindings(entry, offer)])
        findings.push({ ...finding, from: from(offer) });
    if (listed.length === 0 && earlierLines.has(line)) findings.push({ ...renamedFinding(entry, id, unseen), from: "no source" });
  }
  const added = [...new Map(unseen.map((offer) => [seenLine(offer), offer])).values()].filter((offer) => !ours.has(seenLine(offer)));
  for (const offer of added) findings.push({ change: "new", company: offer.company, model: offer.id, text: "", from: from(offer) });
  const order: readonly Change[] = ["retiring", "dearer", "cheaper", "renamed", "new"];
  return findings.sort((one, other) => order.indexOf(one.change) - order.indexOf(other.change) || one.model.localeCompare(other.model));
};

/** Findings that no explanation accepts. */
export const unexplained = <F extends Finding>(findings: readonly F[], explanations: readonly Explanation[]): F[] =>
  findings.filter(
    ({ model, change, text }) => !explanations.some((one) => one.model === model && one.change === change && one.text === text),
  );
