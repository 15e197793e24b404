import type { LucideIcon } from "lucide-react";
import { COMMON } from "../../messages/common";

type Data = Readonly<Record<string, unknown>>;
export type Group = "ends" | "text" | "generate" | "data" | "notes";

/** A text setting that is edited on the node. */
export interface Writes {
  setting: string;
  label: string;
  /** Placeholder of the empty field. */
  placeholder: string;
  /** Initial number of lines. */
  lines: number;
  /** True for a list of texts, one per line. */
  isList?: boolean;
}

/** Forms beyond one control per setting. */
export type FormName = "fields" | "text" | "http" | "file" | "list" | "expression" | "cases" | "workflow" | "loop";

/** Appearance of a kind that the kernel's table doesn't define. Kinds also work without one. */
export interface Look {
  /** The kernel's name of the kind. */
  type: string;
  /** Place in the palette; fractions are allowed. */
  order: number;
  title: string;
  /** Description of one line in the palette. */
  description: string;
  group: Group;
  icon: LucideIcon;
  /** Id of the first node of the kind. */
  id: string;
  data?: Data;
  /** Data of a new node that is linked to a port, by the port's name. */
  fedBy?: (port: string) => Data;
  /** Settings in two lines of text. */
  summary?: (data: Data) => string;
  /** Text setting on the node. */
  writes?: Writes;
  /** Line of settings above that text. */
  line?: (data: Data) => string;
  /** Form in the panel, if one control per setting isn't enough. */
  form?: FormName;
  /** Returns true if its outputs are lists. */
  givesLists?: (data: Data) => boolean;
}

export const textOf = (value: unknown): string => (typeof value === "string" ? value.trim() : "");

export const modelAndPrompt = (data: Data): string => {
  const inputs = (typeof data.inputs === "object" && data.inputs !== null ? data.inputs : {}) as Record<string, unknown>;
  const prompt = textOf(inputs.prompt) || textOf(data.prompt);
  return `${textOf(data.model) || COMMON.chooseModel}${prompt === "" ? "" : `\n${prompt}`}`;
};

export const generator = (type: string, order: number, title: string, id: string, icon: LucideIcon, description: string): Look => ({
  type,
  order,
  title,
  id,
  icon,
  description,
  group: "generate",
  data: { inputs: {} },
  summary: modelAndPrompt,
});
