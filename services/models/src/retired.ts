import { DomainError } from "@nodeloom/kernel";
import type { CatalogModel } from "./catalog-model";

/** Maximum successors that are followed one after the other. The limit also ends circles. */
const MOST_SUCCESSORS = 5;

type Retirable = Pick<CatalogModel, "internalName" | "enabled" | "retired" | "successor">;

/** Returns the enabled model that replaces a retired model; undefined if there is none. */
export const successorOf = (model: Retirable, find: (internalName: string) => Retirable | undefined): string | undefined => {
  let next: Retirable | undefined = model;
  for (let followed = 0; followed < MOST_SUCCESSORS && next?.successor !== undefined; followed += 1) {
    next = find(next.successor);
    if (next?.enabled) return next.internalName;
  }
  return undefined;
};

/** Returns the retired models by the enabled model that replaces them. */
export const replacedBy = (models: readonly Retirable[]): Map<string, string[]> => {
  const byName = new Map(models.map((model) => [model.internalName, model]));
  const replaced = new Map<string, string[]>();
  for (const model of models) {
    const successor = model.retired ? successorOf(model, (name) => byName.get(name)) : undefined;
    if (successor !== undefined) replaced.set(successor, [...(replaced.get(successor) ?? []), model.internalName]);
  }
  return replaced;
};

/** Returns the error for a run of a retired model. */
export const retiredModel = (internalName: string, successor: string | undefined): DomainError => {
  const advice = successor === undefined ? "choose another model" : `use ${successor}`;
  const message = `the model ${internalName} is retired: ${advice}`;
  return new DomainError("not_found", "MODEL_NOT_FOUND", message, successor === undefined ? {} : { successor });
};
