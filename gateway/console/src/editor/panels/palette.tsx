import { useEffect, useMemo, useRef, useState, type KeyboardEvent } from "react";
import { CHOICES, kindColour, type Kind } from "../../canvas/kinds";
import { classes } from "../../ui/classes";
import { addFromPalette, suits } from "../commands/new-nodes";
import { useEditor, useUi } from "../context";
import type { PaletteRequest } from "../ui-store";
import { NothingFound } from "./nothing-found";
import { modelState, placeWords } from "./model-state";
import { CHOICES_ID, PaletteBox } from "./palette-box";

interface Choice {
  key: string;
  kind: Kind;
  title: string;
  description: string;
  model?: string;
}

const matches = (text: string, words: readonly string[]): boolean => words.every((word) => text.includes(word));

/** What is called that stands before what is known by that word, and that before what has it somewhere. */
const rankOf = ({ title, words }: Kind, query: string): number => {
  if (title.toLowerCase().startsWith(query)) return 0;
  return ` ${words.toLowerCase()} `.includes(` ${query} `) ? 1 : 2;
};

/** Kinds that fit, and, once something is typed, models by name. */
const useChoices = (request: PaletteRequest, query: string): Choice[] => {
  const editor = useEditor();
  const { models } = editor;
  const fitting = useMemo(
    () => CHOICES.filter((kind) => (request.from || request.edgeId !== undefined ? kind.runs : true) && suits(editor, kind, request)),
    [editor, request],
  );
  return useMemo(() => {
    const words = query.toLowerCase().split(/\s+/).filter(Boolean);
    const kinds = fitting
      .filter((kind) => matches(`${kind.title} ${kind.words} ${kind.description}`.toLowerCase(), words))
      .toSorted((a, b) => (words.length === 0 ? 0 : rankOf(a, words.join(" ")) - rankOf(b, words.join(" "))))
      .map((kind): Choice => ({ key: `${kind.type} ${kind.title}`, kind, title: kind.title, description: kind.description }));
    if (words.length === 0) return kinds;
    const byModel = fitting.flatMap((kind) =>
      models
        .filter((model) => kind.modality !== undefined && model.enabled && model.modality === kind.modality)
        .filter(({ displayName, internalName, description }) =>
          matches(`${displayName} ${internalName} ${description}`.toLowerCase(), words),
        )
        .map((model): Choice => ({
          key: model.internalName,
          kind,
          title: model.displayName,
          description: [kind.title, placeWords(model), modelState(model), model.internalName].filter(Boolean).join(" · "),
          model: model.internalName,
        })),
    );
    return [...kinds, ...byModel];
  }, [fitting, models, query]);
};

const PaletteList = ({ request }: { request: PaletteRequest }) => {
  const editor = useEditor();
  const [query, setQuery] = useState(request.typed ?? "");
  const [at, setAt] = useState(0);
  const choices = useChoices(request, query);
  const list = useRef<HTMLUListElement>(null);
  const choose = (choice: Choice | undefined): void => {
    if (choice) addFromPalette(editor, choice.kind, request, choice.model);
  };
  useEffect(() => {
    if (request.isEntered) choose(choices[0]);
    // Once, for what was pressed before.
  }, []);
  const onKey = (key: string, event: KeyboardEvent): void => {
    if (key === "Enter") choose(choices[at]);
    else if (key === "ArrowDown" || key === "ArrowUp") {
      event.preventDefault();
      const next = (at + (key === "ArrowDown" ? 1 : -1) + choices.length) % Math.max(1, choices.length);
      setAt(next);
      list.current?.children[next]?.scrollIntoView({ block: "nearest" });
    }
  };
  return (
    <PaletteBox
      request={request}
      query={query}
      active={choices[at] && `${CHOICES_ID}-${at}`}
      onQuery={(typed) => {
        setQuery(typed);
        setAt(0);
      }}
      onKey={onKey}
    >
      <ul ref={list} id={CHOICES_ID} role="listbox" aria-label="Nodes" className="min-h-0 flex-1 overflow-y-auto p-1">
        {choices.map((choice, index) => (
          <li
            key={choice.key}
            id={`${CHOICES_ID}-${index}`}
            role="option"
            aria-selected={index === at}
            onPointerMove={() => setAt(index)}
            onClick={() => choose(choice)}
            className={classes("flex cursor-pointer items-center gap-2.5 rounded-lg px-2.5 py-1.5", index === at && "bg-hover")}
          >
            <choice.kind.icon className="size-4 shrink-0" style={{ color: kindColour(choice.kind.type) }} aria-hidden />
            <span className="min-w-0">
              <span className="block truncate text-sm font-medium">{choice.title}</span>
              <span className="block truncate text-xs text-faint">{choice.description}</span>
            </span>
          </li>
        ))}
      </ul>
      {choices.length === 0 && <NothingFound query={query} />}
    </PaletteBox>
  );
};

export const Palette = () => {
  const { ui } = useEditor();
  const request = useUi((state) => state.palette);
  useEffect(() => {
    if (!request) return undefined;
    const outside = (event: PointerEvent): void => {
      if (!(event.target as HTMLElement).closest("[role=dialog]")) ui.setState({ palette: undefined });
    };
    // The press that opened it must not close it.
    const timer = setTimeout(() => window.addEventListener("pointerdown", outside, true));
    return () => {
      clearTimeout(timer);
      window.removeEventListener("pointerdown", outside, true);
    };
  }, [request, ui]);
  return request ? <PaletteList key={`${request.at.x} ${request.at.y}`} request={request} /> : null;
};
