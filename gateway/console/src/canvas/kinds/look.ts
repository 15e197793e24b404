import type { LucideIcon } from "lucide-react";

type Data = Readonly<Record<string, unknown>>;
export type Group = "Start and end" | "Text" | "Generate" | "Data" | "Notes";

/** A setting that is written on the node. */
export interface Writes {
  setting: string;
  label: string;
  /** Shown while it is empty. */
  placeholder: string;
  /** Lines that are shown at first. */
  lines: number;
  /** It is a list of texts: one to a line. */
  isList?: boolean;
}

/** Forms that are more than a control for each setting. */
export type FormName = "fields" | "text" | "http" | "file" | "list" | "expression" | "cases" | "workflow";

/** How a kind is shown where its entry in the kernel's table leaves that open. A kind without a look works as well. */
export interface Look {
  /** As the kernel calls it. */
  type: string;
  title: string;
  /** One line in the palette. */
  description: string;
  group: Group;
  icon: LucideIcon;
  /** Id of the first node of the kind. */
  id: string;
  /** Other names that find it: phrases, separated by commas. */
  words: string;
  /** What a new node begins with. */
  data?: Data;
  /** What it begins with where a port is to feed it, by the port's name. */
  fedBy?: (port: string) => Data;
  /** In two lines, of its own settings. */
  summary?: (data: Data) => string;
  /** The text among its settings that is written on the node itself. */
  writes?: Writes;
  /** A line of its settings above that text. */
  line?: (data: Data) => string;
  /** The form beside the canvas, where a control for each setting isn't enough. */
  form?: FormName;
  /** Its outputs are lists. */
  givesLists?: boolean;
}

export const textOf = (value: unknown): string => (typeof value === "string" ? value.trim() : "");

/** The model, and the prompt that stands in the node. */
export const modelAndPrompt = (data: Data): string => {
  const inputs = (typeof data.inputs === "object" && data.inputs !== null ? data.inputs : {}) as Record<string, unknown>;
  const prompt = textOf(inputs.prompt) || textOf(data.prompt);
  return `${textOf(data.model) || "Choose a model"}${prompt === "" ? "" : `\n${prompt}`}`;
};

export const generator = (type: string, title: string, id: string, icon: LucideIcon, description: string, words: string): Look => ({
  type,
  title,
  id,
  icon,
  description,
  words,
  group: "Generate",
  data: { inputs: {} },
  summary: modelAndPrompt,
});
