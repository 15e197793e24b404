/** Compares the inputs and results of versions, because callers must not notice which one runs. */
import type { InputField } from "@nodeloom/kernel";
import { derive } from "../definition/settings";
import type { Version } from "../definition/workflow";

type Interface = Pick<Version, "fieldsJson" | "resultsJson" | "nodesJson" | "edgesJson">;

/** Input fields by name, without members that callers don't notice. */
const fieldsOf = ({ fieldsJson }: Interface): Map<string, string> =>
  new Map(
    (JSON.parse(fieldsJson) as InputField[]).map(({ name, label: _label, default: _default, ...field }) => [
      name,
      JSON.stringify([
        field.type,
        field.required,
        field.options ?? [],
        field.min ?? null,
        field.max ?? null,
        field.multiple ?? false,
        field.maxItems ?? null,
      ]),
    ]),
  );

const resultsOf = ({ resultsJson, nodesJson, edgesJson }: Interface): Map<string, string> =>
  new Map((JSON.parse(resultsJson ?? derive(nodesJson, edgesJson).resultsJson ?? "[]") as string[]).map((name) => [name, ""]));

const differing = (one: ReadonlyMap<string, string>, other: ReadonlyMap<string, string>): string[] =>
  [...new Set([...one.keys(), ...other.keys()])].filter((name) => one.get(name) !== other.get(name)).sort();

/** Names of the input fields and of the results in which two versions differ. */
export const differences = (one: Interface, other: Interface): { fields: string[]; results: string[] } => ({
  fields: differing(fieldsOf(one), fieldsOf(other)),
  results: differing(resultsOf(one), resultsOf(other)),
});
