import type { Model } from "@nodeloom/client";
import { useEffect, useMemo, useRef, useState, type KeyboardEvent } from "react";
import { CHOICES, kindColour, type Kind } from "../../canvas/kinds";
import { classes } from "../../ui/classes";
import { KindIcon } from "../board/node/kind-icon";
import { addFromPalette, suits } from "../commands/new-nodes";
import { useEditor, useUi } from "../context";
import type { PaletteRequest } from "../ui-store";
import { NothingFound } from "./nothing-found";
import { modelState, placeWords } from "./model-state";
import { CHOICES_ID, PaletteBox } from "./palette-box";
import { searchChoices, type Choice } from "./search";
import { COMMON } from "../../messages/common";

const describe = (model: Model, kind: Kind): string =>
  [kind.title, placeWords(model), modelState(model), model.internalName].filter(Boolean).join(" · ");

/** Kinds that fit, and models once the user types. */
const useChoices = (request: PaletteRequest, query: string): Choice[] => {
  const editor = useEditor();
  const { models } = editor;
  const fitting = useMemo(
    () => CHOICES.filter((kind) => (request.from || request.edgeId !== undefined ? kind.runs : true) && suits(editor, kind, request)),
    [editor, request],
  );
  return useMemo(() => searchChoices(query, fitting, models, describe), [fitting, models, query]);
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
    // Runs once, for text typed before the palette loaded.
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
      <ul ref={list} id={CHOICES_ID} role="listbox" aria-label={COMMON.nodes} className="min-h-0 flex-1 overflow-y-auto p-1">
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
            <KindIcon
              kind={choice.kind}
              data={choice.kind.data()}
              className="size-4 shrink-0"
              style={{ color: kindColour(choice.kind.type, choice.kind.data()) }}
            />
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
    // The press that opened the palette must not close it.
    const timer = setTimeout(() => window.addEventListener("pointerdown", outside, true));
    return () => {
      clearTimeout(timer);
      window.removeEventListener("pointerdown", outside, true);
    };
  }, [request, ui]);
  return request ? <PaletteList key={`${request.at.x} ${request.at.y}`} request={request} /> : null;
};
