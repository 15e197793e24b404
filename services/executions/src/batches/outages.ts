/** Tells which items of a batch need a provider that is unavailable. */
import type { BatchRow } from "../run/batch";
import type { ModelCatalog } from "../plan/model-catalog";

export interface Outage {
  model: string;
  /** Time from which one item can test whether the provider is back. */
  trialAt: number;
}

export interface OutageOptions {
  catalog: Pick<ModelCatalog, "getAny">;
  /** See `createGates`. */
  nextTrial: (providerJson: string) => number | undefined;
}

export type OutageOf = (row: Pick<BatchRow, "models">) => Promise<Outage | undefined>;

/** Returns the outage that lets a row fail: a node has no alternative whose provider responds. */
export const createOutageOf = ({ catalog, nextTrial }: OutageOptions): OutageOf => {
  /** A model that can't be read isn't an outage: its item fails with the reason. */
  const trialOf = async (model: string): Promise<number | undefined> => {
    const found = await catalog.getAny(model).catch(() => undefined);
    return found && nextTrial(found.providerJson);
  };
  return async ({ models = [] }) => {
    let outage: Outage | undefined;
    for (const alternatives of models) {
      const trials = (await Promise.all(alternatives.map(trialOf))).filter((trial) => trial !== undefined);
      if (trials.length < alternatives.length) continue;
      const trialAt = Math.min(...trials);
      if (!outage || trialAt > outage.trialAt) outage = { model: alternatives[0]!, trialAt };
    }
    return outage;
  };
};
