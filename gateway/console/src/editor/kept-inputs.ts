import { useEffect } from "react";
import type { Editor } from "./context";

const MAX_CHARACTERS = 200_000;

const read = (key: string): Record<string, unknown> | undefined => {
  try {
    const value: unknown = JSON.parse(sessionStorage.getItem(key) ?? "null");
    if (typeof value !== "object" || value === null || Array.isArray(value)) return undefined;
    return Object.fromEntries(Object.entries(value).map(([name, one]) => [name, (one as unknown) ?? undefined]));
  } catch {
    return undefined;
  }
};

const write = (key: string, typed: Readonly<Record<string, unknown>>): void => {
  // JSON has no undefined, so null represents an emptied input.
  const text = JSON.stringify(typed, (_, value: unknown) => value ?? null);
  try {
    if (text.length <= MAX_CHARACTERS) sessionStorage.setItem(key, text);
  } catch {
    // Without storage, the inputs are lost with the page.
  }
};

const keyOf = (userId: string, slug: string): string => `nodeloom.inputs:${userId}/${slug}`;

/** Hands typed inputs to another workflow, such as a copy of this one. */
export const handInputs = ({ me, ui }: Editor, slug: string): void => write(keyOf(me.user.id, slug), ui.getState().typed);

/**
 * Keeps typed inputs through reloads of this tab.
 * @param run run in the page's address, whose inputs take precedence
 */
export const useKeptInputs = ({ slug, me, ui }: Editor, run: string | undefined): void =>
  useEffect(() => {
    const key = keyOf(me.user.id, slug);
    const keptInputs = read(key);
    if (run === undefined && keptInputs && Object.keys(ui.getState().typed).length === 0) ui.setState({ typed: keptInputs });
    return ui.subscribe((now, then) => {
      if (now.typed !== then.typed) write(key, now.typed);
    });
  }, [slug, me.user.id, ui, run]);
