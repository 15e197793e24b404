import { Link } from "@tanstack/react-router";
import { useQueryClient } from "@tanstack/react-query";
import { ArrowUp, ChevronRight, RotateCcw, Sparkles, Square } from "lucide-react";
import { useEffect, useMemo, useRef, useState, type KeyboardEvent } from "react";
import type { Model } from "@nodeloom/client";
import { useStore } from "zustand";
import { afterRun } from "../../api/queries";
import { ASSISTANT } from "../../messages/editor/assistant";
import { Button, buttonClasses, IconButton } from "../../ui/button";
import { creditNumber, credits } from "../../ui/format";
import { Check, SelectField, TextArea } from "../../ui/inputs/field";
import { NumberField } from "../../ui/inputs/value-inputs";
import { Empty } from "../../ui/notice";
import type { Stage } from "../commands/command";
import { useEditor } from "../context";
import { useFollow } from "../running/use-follow";
import { MAX_REQUEST_CHARS, type Assistant } from "./assistant";
import { EntryView } from "./entry-view";
import { assistantOf } from "./open-assistant";
import { assistantModels } from "./question";

const NoModel = () => (
  <div className="p-3">
    <Empty
      icon={Sparkles}
      title={ASSISTANT.title}
      actions={
        <Link to="/models" className={buttonClasses()}>
          {ASSISTANT.openModels}
        </Link>
      }
    >
      {ASSISTANT.noModel}
    </Empty>
  </div>
);

/** Model, limit and permission of the conversation. */
const Settings = ({ assistant: { store, reset }, models, model }: { assistant: Assistant; models: readonly Model[]; model: Model }) => {
  const { ceiling, spent, allowsRuns, isWorking, entries } = useStore(store);
  return (
    <details className="group">
      <summary className="flex items-center gap-1 text-xs text-muted">
        <ChevronRight className="size-4 shrink-0 transition-transform group-open:rotate-90" aria-hidden />
        <span>{ASSISTANT.settings}</span>
        <span className="ml-auto">{ASSISTANT.spent(creditNumber(spent), credits(ceiling ?? 0))}</span>
      </summary>
      <div className="mt-2 flex flex-col gap-3">
        <SelectField
          label={ASSISTANT.model}
          value={model.internalName}
          onText={(modelName) => store.setState({ modelName })}
          options={models.map(({ internalName, displayName }) => [internalName, displayName] as const)}
        />
        <NumberField
          label={ASSISTANT.ceiling}
          hint={ASSISTANT.ceilingHint}
          value={ceiling}
          onChange={(value) => store.setState({ ceiling: value === undefined ? undefined : Math.max(0, value) })}
        />
        <Check label={ASSISTANT.allowRuns} checked={allowsRuns} onCheck={(isOn) => store.setState({ allowsRuns: isOn })} />
        <Button size="sm" icon={RotateCcw} className="self-start" disabled={isWorking || entries.length === 0} onClick={reset}>
          {ASSISTANT.newConversation}
        </Button>
      </div>
    </details>
  );
};

/** The entries of the conversation; the newest is kept in view. */
const Conversation = ({ assistant, stage }: { assistant: Assistant; stage: Stage }) => {
  const { entries, isWorking } = useStore(assistant.store);
  const end = useRef<HTMLDivElement>(null);
  useEffect(() => end.current?.scrollIntoView({ block: "nearest" }), [entries, isWorking]);
  return (
    <div role="log" aria-label={ASSISTANT.conversation} tabIndex={0} className="flex min-h-0 flex-1 flex-col gap-2.5 overflow-y-auto p-3">
      {entries.length === 0 && <p className="text-sm text-muted">{ASSISTANT.intro}</p>}
      {entries.map((entry, index) => (
        <EntryView key={index} entry={entry} assistant={assistant} stage={stage} />
      ))}
      {isWorking && (
        <p className="flex items-center gap-2 text-sm text-muted">
          <Sparkles className="size-4 shrink-0 animate-pulse" aria-hidden /> {ASSISTANT.working}
        </p>
      )}
      <div ref={end} />
    </div>
  );
};

/** Enter sends; Shift+Enter begins a line. */
const isSending = ({ key, shiftKey, nativeEvent }: KeyboardEvent): boolean => key === "Enter" && !shiftKey && !nativeEvent.isComposing;

const Form = ({ assistant, models }: { assistant: Assistant; models: readonly Model[] }) => {
  const { store, send, cancel } = assistant;
  const { text, isWorking, modelName } = useStore(store);
  const client = useQueryClient();
  const model = models.find(({ internalName }) => internalName === modelName) ?? models[0]!;
  const submit = (): void => void send(text, model).then(() => afterRun(client));
  return (
    <form
      className="flex shrink-0 flex-col gap-2 border-t p-3"
      onSubmit={(event) => {
        event.preventDefault();
        submit();
      }}
    >
      <div className="flex items-end gap-2">
        <TextArea
          aria-label={ASSISTANT.request}
          placeholder={ASSISTANT.placeholder}
          rows={3}
          maxLength={MAX_REQUEST_CHARS}
          value={text}
          onText={(typed) => store.setState({ text: typed })}
          onKeyDown={(event) => {
            if (!isSending(event)) return;
            event.preventDefault();
            submit();
          }}
        />
        {isWorking ? (
          <IconButton icon={Square} label={ASSISTANT.cancel} onClick={cancel} />
        ) : (
          <IconButton icon={ArrowUp} label={ASSISTANT.send} type="submit" active disabled={text.trim() === ""} />
        )}
      </div>
      <Settings assistant={assistant} models={models} model={model} />
    </form>
  );
};

/** Builds the open workflow from a description, with a chat model of the installation. */
export const AssistantPanel = ({ stage }: { stage: Stage }) => {
  const editor = useEditor();
  const follow = useFollow();
  const { models, me } = editor;
  const [assistant] = useState(() => assistantOf(editor, stage, follow));
  const chatModels = useMemo(() => assistantModels(models, me.user), [models, me.user]);
  if (chatModels.length === 0) return <NoModel />;
  return (
    <div className="flex h-full flex-col">
      <Conversation assistant={assistant} stage={stage} />
      <Form assistant={assistant} models={chatModels} />
    </div>
  );
};
