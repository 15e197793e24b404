import type { Client } from "../client";
import { readArgument } from "./arguments";
import { Refusal } from "./outcome";

/** Parses inputs on a command line: `name=text`, `name=@file`, `name:=json`. */

const INPUT = /^([^=:@]+)(:?=)(.*)$/s;

/** Declared types of inputs, if known. */
export type InputTypes = ReadonlyMap<string, string>;
/** Type of an input that takes a list of files. */
export const FILES = "files";

const EMPTY = '""';

/** A JSON number. Numbers beyond the range of a double keep their digits. */
const NUMBER = /^-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?$/;

const typed = (name: string, text: string, type: string | undefined): string => {
  if (type === "number" || type === "integer") {
    const number = Number(text);
    if (text.trim() === "" || !Number.isFinite(number)) throw new Refusal(`${name}: must be a number, but is "${text}"`);
    return NUMBER.test(text) ? text : JSON.stringify(number);
  }
  if (type === "boolean") {
    if (text !== "true" && text !== "false") throw new Refusal(`${name}: must be true or false, but is "${text}"`);
    return text;
  }
  return JSON.stringify(text);
};

const checked = (name: string, text: string): string => {
  try {
    JSON.parse(text);
    return text;
  } catch {
    throw new Refusal(`${name}: isn't valid JSON`);
  }
};

/**
 * Reads inputs, and uploads the files among them. An input for a list of files can repeat.
 * @returns a JSON object that keeps numbers as they were written
 * @throws Refusal for a malformed input; NodeloomError for a rejected file
 */
export const readInputs = async (client: Client, parts: readonly string[], types: InputTypes): Promise<string> => {
  const inputs = new Map<string, string>();
  const lists = new Map<string, string[]>();
  const set = (name: string, json: string): void => {
    if (types.get(name) !== FILES) return void inputs.set(name, json);
    const files = [...(lists.get(name) ?? []), ...(json === EMPTY ? [] : [json])];
    lists.set(name, files);
    inputs.set(name, `[${files.join(",")}]`);
  };
  for (const text of parts) {
    const match = INPUT.exec(text);
    if (!match) throw new Refusal(`"${text}" isn't an input: write name=text, name=@file or name:=json`);
    const [, name = "", sign, value = ""] = match;
    if (sign === ":=") inputs.set(name, checked(name, value));
    else if (value.startsWith("@")) set(name, JSON.stringify(await uploaded(client, name, value.slice(1))));
    else set(name, typed(name, value, types.get(name)));
  }
  return `{${[...inputs].map(([name, json]) => `${JSON.stringify(name)}:${json}`).join(",")}}`;
};

const uploaded = async (client: Client, name: string, path: string): Promise<string> =>
  (await client.upload(await readArgument(path, `${name}: ${path}`))).id;
