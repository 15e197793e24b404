import { readFile } from "node:fs/promises";
import type { Client } from "../client";
import { Refusal } from "./outcome";

/** Inputs of a run as they are written on a command line: `name=text`, `name=@file`, `name:=json`. */

const INPUT = /^([^=:@]+)(:?=)(.*)$/s;

/** The type that an input is declared with, where that is known. */
export type InputTypes = ReadonlyMap<string, string>;

const typed = (name: string, text: string, type: string | undefined): unknown => {
  if (type === "number" || type === "integer") {
    const number = Number(text);
    if (text.trim() === "" || !Number.isFinite(number)) throw new Refusal(`${name}: must be a number, but is "${text}"`);
    return number;
  }
  if (type === "boolean") {
    if (text !== "true" && text !== "false") throw new Refusal(`${name}: must be true or false, but is "${text}"`);
    return text === "true";
  }
  return text;
};

const parsed = (name: string, text: string): unknown => {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    throw new Refusal(`${name}: is no JSON`);
  }
};

/**
 * Reads inputs, and uploads the files among them.
 * @throws Refusal for one that can't be read; NodeloomError for a file that is refused
 */
export const readInputs = async (client: Client, given: readonly string[], types: InputTypes): Promise<Record<string, unknown>> => {
  const inputs: [string, unknown][] = [];
  for (const text of given) {
    const match = INPUT.exec(text);
    if (!match) throw new Refusal(`"${text}" is no input: write name=text, name=@file or name:=json`);
    const [, name = "", sign, value = ""] = match;
    if (sign === ":=") inputs.push([name, parsed(name, value)]);
    else if (value.startsWith("@")) inputs.push([name, await uploaded(client, name, value.slice(1))]);
    else inputs.push([name, typed(name, value, types.get(name))]);
  }
  return Object.fromEntries(inputs);
};

const uploaded = async (client: Client, name: string, path: string): Promise<string> => {
  let bytes: Uint8Array<ArrayBuffer>;
  try {
    bytes = new Uint8Array(await readFile(path));
  } catch (error) {
    throw new Refusal(`${name}: ${path} can't be read: ${(error as Error).message}`);
  }
  return (await client.upload(bytes)).id;
};
