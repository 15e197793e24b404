import {
  dataUrlType,
  isDataUrl,
  isFileType,
  isMediaReference,
  mediaProblem,
  schemaPorts,
  uploadFamily,
  type DataFile,
  type InputField,
  type Issue,
  type JsonSchema,
} from "@nodeloom/kernel";
import { each } from "../files";

/** Data URLs that a run's inputs give for files: where they may stand, and what stands for them while a plan is made. */

/** Inputs of a workflow that are files. */
export const fileFields = (fields: readonly InputField[]): InputField[] => fields.filter((field) => uploadFamily(field) !== undefined);

/** Names of a model's inputs that are files. */
export const fileInputsOf = (schema: JsonSchema): string[] =>
  schemaPorts(schema).flatMap(([name, { type }]) => (isFileType(type) ? [name] : []));

/** Whether every stand-in is given for a file: anywhere else its text would be taken for the value. */
export const standForFiles = (
  standIns: readonly string[] | undefined,
  inputs: Readonly<Record<string, unknown>>,
  fileInputs: Iterable<string>,
): boolean => {
  if (!standIns || standIns.length === 0) return true;
  const missing = new Set(standIns);
  for (const name of fileInputs) if (Object.hasOwn(inputs, name)) for (const value of each(inputs[name])) missing.delete(value as string);
  return missing.size === 0;
};

/** Where a file lies that has yet to be stored: nowhere. */
export const pendingAddress = (storage = ""): string => `${storage}pending`;

const pendingFile = (url: string, storage?: string): DataFile => ({
  file: { url: pendingAddress(storage), contentType: dataUrlType(url) ?? "" },
  isPending: true,
});

/**
 * Puts files in place of the data URLs that upload fields were given.
 * @param data what has become of data URLs; those that are new are added, pending
 * @returns what is wrong with them
 */
export const resolveDataFields = (
  fields: readonly InputField[],
  values: Map<string, unknown>,
  data: Map<string, DataFile>,
  storage: string | undefined,
): Issue[] =>
  fileFields(fields).flatMap((field) => {
    const { name } = field;
    const url = values.get(name);
    if (!isDataUrl(url) || !isMediaReference(url)) return [];
    const known = data.get(url) ?? pendingFile(url, storage);
    data.set(url, known);
    if (known.file) values.set(name, known.file);
    const isStored = known.file !== undefined && !known.isPending;
    const problem = known.problem ?? (isStored ? mediaProblem(uploadFamily(field)!, known.file) : undefined);
    return problem === undefined ? [] : [{ path: `inputs.${name}`, message: problem }];
  });
