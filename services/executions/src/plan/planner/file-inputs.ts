import {
  type DataFile,
  dataUrlType,
  findingInWords,
  type GraphIssue,
  groupBy,
  type InputField,
  isDataUrl,
  isFileType,
  inputPath,
  isMediaReference,
  type Issue,
  type JsonSchema,
  mediaProblem,
  type ModelTerms,
  type RunPlan,
  schemaPorts,
  stepAddresses,
  uploadFamily,
} from "@nodeloom/kernel";
import type { AddressRules } from "@nodeloom/platform";

/** Checks where a run's inputs can contain data URLs, and replaces them with stand-ins during planning. */

export const each = (value: unknown): readonly unknown[] => (Array.isArray(value) ? (value as unknown[]) : [value]);

export const fileFields = (fields: readonly InputField[]): InputField[] => fields.filter((field) => uploadFamily(field) !== undefined);

interface FieldFile {
  field: InputField;
  value: unknown;
  /** Path of the file in the request. */
  path: string;
}

/** Values of file fields. A list of files gives each of its items. */
export const filesOfFields = (fields: readonly InputField[], values: ReadonlyMap<string, unknown>): FieldFile[] =>
  fileFields(fields).flatMap((field): FieldFile[] => {
    const value = values.get(field.name);
    if (!Array.isArray(value)) return [{ field, value, path: inputPath(field.name) }];
    return value.map((item: unknown, index) => ({ field, value: item, path: inputPath(field.name, index) }));
  });

/**
 * Replaces the files of file fields, in place and in order.
 * @returns problems of the files, each at its path
 */
export const replaceFiles = (
  fields: readonly InputField[],
  values: Map<string, unknown>,
  replace: (field: InputField, value: unknown) => { file: unknown; problem?: string | undefined },
): Issue[] => {
  const replaced = filesOfFields(fields, values).map(({ field, value, path }) => ({ name: field.name, path, ...replace(field, value) }));
  for (const [name, files] of groupBy(replaced, (one) => one.name)) {
    const value = values.get(name);
    if (value !== undefined) values.set(name, Array.isArray(value) ? files.map(({ file }) => file) : files[0]!.file);
  }
  return replaced.flatMap(({ path, problem }) => (problem === undefined ? [] : [{ path, message: problem }]));
};

export const fileInputsOf = (schema: JsonSchema): string[] =>
  schemaPorts(schema).flatMap(([name, { type }]) => (isFileType(type) ? [name] : []));

/** True if every stand-in is in a file input. In any other input, the text of the stand-in would become the value. */
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

/** Placeholder for the address of a file that isn't stored yet. */
export const pendingAddress = (storage = ""): string => `${storage}pending`;

const pendingFile = (url: string, storage?: string): DataFile => ({
  file: { url: pendingAddress(storage), contentType: dataUrlType(url) ?? "" },
  isPending: true,
});

/**
 * Replaces data URLs in upload fields with files.
 * @returns problems of the data URLs
 */
export const resolveDataFields = (
  fields: readonly InputField[],
  values: Map<string, unknown>,
  data: Map<string, DataFile>,
  storage: string | undefined,
): Issue[] =>
  replaceFiles(fields, values, (field, url) => {
    if (!isDataUrl(url) || !isMediaReference(url)) return { file: url };
    const fileValue = data.get(url) ?? pendingFile(url, storage);
    data.set(url, fileValue);
    const isStored = fileValue.file !== undefined && !fileValue.isPending;
    const problem = fileValue.problem ?? (isStored ? mediaProblem(uploadFamily(field)!, fileValue.file) : undefined);
    return { file: fileValue.file ?? url, problem };
  });

/** Finds file ids in a run's inputs. */

/** Shorter texts can be words that happen to occur in an id. */
const ID_PART_CHARS = 8;

/** Returns all texts in a runner's inputs. The default of a field belongs to the author, even if the runner sends it. */
const givenTexts = (inputs: Readonly<Record<string, unknown>>, fields: readonly InputField[]): string[] => {
  const defaults = new Map(fields.map((field) => [field.name, each(field.default)]));
  const pending: unknown[] = Object.entries(inputs).flatMap(([name, value]) => {
    const own = defaults.get(name);
    return own ? each(value).filter((one) => !own.includes(one)) : [value];
  });
  const texts: string[] = [];
  while (pending.length > 0) {
    const value = pending.pop();
    if (typeof value === "string") texts.push(value);
    else if (typeof value === "object" && value !== null) for (const one of Object.values(value)) pending.push(one);
  }
  return texts;
};

/**
 * Tells which ids a runner's inputs contain, completely or in part. These ids never refer to files of the template's author, because
 * permission to read the template doesn't include its files.
 */
export const broughtIds = (inputs: Readonly<Record<string, unknown>>, fields: readonly InputField[]): ((id: string) => boolean) => {
  let texts: string[] | undefined;
  return (id) => {
    texts ??= givenTexts(inputs, fields);
    return texts.some((text) => text.includes(id) || (text.length >= ID_PART_CHARS && id.includes(text)));
  };
};

/** Checks addresses in inputs by the rules of the guarded client. Only addresses that are known before a run are checked. */

type Rules = Pick<AddressRules, "problem">;

const HTTP_URL = /^https?:/i;

export const uploadIssues = (fields: readonly InputField[], values: ReadonlyMap<string, unknown>, rules: Rules): Issue[] =>
  filesOfFields(fields, values).flatMap(({ value, path }) => {
    if (typeof value !== "string" || !HTTP_URL.test(value)) return [];
    const message = rules.problem(value);
    return message === undefined ? [] : [{ path, message, code: "ADDRESS_REFUSED" }];
  });

/** Returns problems of addresses that a plan's calls will pass to providers, one for each input. */
export const addressIssues = (plan: RunPlan, models: ReadonlyMap<string, ModelTerms>, rules: Rules): GraphIssue[] =>
  plan.steps.flatMap((step) => {
    const terms = step.model === undefined ? undefined : models.get(step.model);
    const problems = new Map<string, GraphIssue>();
    for (const { name, url } of terms ? stepAddresses(step, terms.inputSchema) : []) {
      const message = problems.has(name) ? undefined : rules.problem(url);
      if (message !== undefined) problems.set(name, { nodeId: step.id, ...findingInWords("ADDRESS_REFUSED", `${name}: ${message}`, name) });
    }
    return [...problems.values()];
  });
