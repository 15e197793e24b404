import type { WorkflowAlias, WorkflowVersionHead } from "@nodeloom/client";
import { LIMITS, PRODUCTION } from "@nodeloom/kernel/limits";
import { useInfiniteQuery, useQuery } from "@tanstack/react-query";
import { CircleCheck, Rocket, RotateCcw, TriangleAlert } from "lucide-react";
import { useState } from "react";
import { messageOf, request } from "../../api/client";
import { Aliases, OtherAlias, Promote } from "./aliases";
import { StartCanary } from "./canary";
import { aliasesQuery, versionQuery, versionsQuery } from "./queries";
import { useChange } from "../../api/use-change";
import { sameGraph, type DocGraph } from "../../document/graph";
import { Badge } from "../../ui/badge";
import { Button } from "../../ui/button";
import { classes } from "../../ui/classes";
import { Dialog } from "../../ui/overlays/dialog";
import { Field, Input } from "../../ui/inputs/field";
import { Notice, Skeleton } from "../../ui/notice";
import { Time } from "../../ui/time";
import { complain, say } from "../../ui/overlays/toast";
import { useDocument, useEditor, useScene, useUi } from "../context";
import { GraphComparison } from "./comparison";
import { isAhead, stateWords } from "./state";
import { RunTests, Tests } from "./tests";
import { VERSIONS_DIALOG } from "../../messages/editor/versions";

/** Saves and publishes the canvas, so that callers get the visible graph. */
const Publish = () => {
  const { document, slug } = useEditor();
  const published = useDocument((state) => state.published);
  const ahead = useDocument(isAhead);
  const issues = useScene((state) => state.judgement.issues);
  const empty = useDocument(({ graph }) => graph.nodes.length === 0);
  const { busy, run } = useChange("versions", "aliases");
  const [note, setNote] = useState("");
  // Busy until the state is reloaded, because a second press would publish the same graph again.
  const publish = (): Promise<void> =>
    run(async () => {
      if (!(await document.flush())) return complain(VERSIONS_DIALOG.notSaved);
      const { body: head } = await request("publishVersion", { params: { slug }, body: note === "" ? {} : { note } });
      const isFixed = published.production !== published.version;
      say(isFixed ? VERSIONS_DIALOG.published(head.version) : VERSIONS_DIALOG.publishedVersion(head.version));
      setNote("");
      await document.refresh().catch(() => undefined);
    });
  const unchanged = published.version !== null && !ahead;
  return (
    <form
      className="flex flex-col gap-3"
      onSubmit={(event) => {
        event.preventDefault();
        void publish();
      }}
    >
      <p className="flex items-start gap-2 text-sm">
        {unchanged ? (
          <CircleCheck className="mt-0.5 size-4 shrink-0 text-ok" aria-hidden />
        ) : (
          <Rocket className="mt-0.5 size-4 shrink-0 text-muted" aria-hidden />
        )}
        <span>{stateWords(published, ahead)}</span>
      </p>
      <div className="flex items-end gap-2 max-sm:flex-col max-sm:items-stretch">
        <Field label={VERSIONS_DIALOG.note} hint={VERSIONS_DIALOG.noteHint} className="flex-1">
          {(attributes) => <Input {...attributes} maxLength={LIMITS.noteChars} value={note} disabled={unchanged} onText={setNote} />}
        </Field>
        <Button type="submit" variant="primary" icon={Rocket} busy={busy} disabled={unchanged || empty} className="sm:mb-5">
          {VERSIONS_DIALOG.publishVersion((published.version ?? 0) + 1)}
        </Button>
      </div>
      {!unchanged && issues.length > 0 && (
        <p className="flex gap-2 text-[13px] text-warn">
          <TriangleAlert className="mt-0.5 size-4 shrink-0" aria-hidden />
          {VERSIONS_DIALOG.problems(issues.length)}
        </p>
      )}
    </form>
  );
};

/** A key without the right to run the workflow has changed it. A person confirms the change for the app, hooks and schedules. */
const PendingChange = () => {
  const { document, slug } = useEditor();
  const { busy, run } = useChange();
  const confirm = (): Promise<void> =>
    run(async () => {
      await request("confirmWorkflow", { params: { slug } });
      say(VERSIONS_DIALOG.triggersRunChanged);
      await document.refresh().catch(() => undefined);
    });
  return (
    <Notice
      kind="warn"
      title={VERSIONS_DIALOG.changeAwaitsConfirmation}
      actions={
        <Button size="sm" variant="primary" busy={busy} onClick={() => void confirm()}>
          {VERSIONS_DIALOG.confirmChange}
        </Button>
      }
    >
      {VERSIONS_DIALOG.changedByKey}
    </Notice>
  );
};

/** Compares a published version with the draft, and restores it. */
const Compared = ({ version, onRestored }: { version: number; onRestored: () => void }) => {
  const { document, slug, ui } = useEditor();
  const locked = useUi((state) => state.locked);
  const draft = useDocument((state) => state.graph);
  const { data, error } = useQuery(versionQuery(slug, version));
  const [asking, setAsking] = useState(false);
  if (error) return <Notice kind="bad">{messageOf(error)}</Notice>;
  if (!data) return <Skeleton lines={4} />;
  const restore = (graph: DocGraph): void => {
    document.change(VERSIONS_DIALOG.restoreVersion(version), () => graph);
    ui.setState({ panel: "node" });
    say(VERSIONS_DIALOG.restored(version));
    onRestored();
  };
  const same = sameGraph(data, draft);
  return (
    <div className="flex flex-col gap-3">
      <GraphComparison
        before={{ title: VERSIONS_DIALOG.version(version), graph: data }}
        after={{ title: VERSIONS_DIALOG.draft, graph: draft }}
      />
      {asking ? (
        <Notice
          kind="warn"
          title={VERSIONS_DIALOG.restoreQuestion(version)}
          actions={
            <>
              <Button size="sm" variant="primary" autoFocus onClick={() => restore(data)}>
                {VERSIONS_DIALOG.replaceDraft}
              </Button>
              <Button size="sm" onClick={() => setAsking(false)}>
                {VERSIONS_DIALOG.keepDraft}
              </Button>
            </>
          }
        >
          {VERSIONS_DIALOG.restoreHint}
        </Notice>
      ) : (
        <div>
          <Button icon={RotateCcw} disabled={same || locked} onClick={() => setAsking(true)}>
            {VERSIONS_DIALOG.restoreAsDraft}
          </Button>
        </div>
      )}
    </div>
  );
};

interface RowProps {
  head: WorkflowVersionHead;
  aliases: readonly WorkflowAlias[];
  chosen: boolean;
  onChoose: () => void;
}

const Row = ({ head, aliases, chosen, onChoose }: RowProps) => (
  <button
    type="button"
    aria-expanded={chosen}
    onClick={onChoose}
    className={classes("flex w-full items-center gap-3 rounded-lg px-2.5 py-2 text-left text-sm hover:bg-hover", chosen && "bg-hover")}
  >
    <span className="w-20 shrink-0 font-medium tabular-nums">{VERSIONS_DIALOG.version(head.version)}</span>
    <span className="min-w-0 flex-1 truncate text-muted" title={head.note}>
      {head.note}
    </span>
    {aliases.map(({ name }) => (
      <Badge key={name} tone={name === PRODUCTION ? "ok" : "neutral"}>
        {name}
      </Badge>
    ))}
    <span className="shrink-0 text-xs text-faint max-sm:hidden">
      <Time iso={head.createdAt} />
    </span>
  </button>
);

const List = ({ onRestored }: { onRestored: () => void }) => {
  const { slug } = useEditor();
  const { data: aliases = [] } = useQuery(aliasesQuery(slug));
  const { data, error, hasNextPage, fetchNextPage, isFetchingNextPage } = useInfiniteQuery(versionsQuery(slug));
  const [chosenVersion, setChosen] = useState<number>();
  if (error) return <Notice kind="bad">{messageOf(error)}</Notice>;
  if (!data) return <Skeleton lines={2} />;
  const rows = data.pages.flatMap((page) => page.rows);
  if (rows.length === 0) return null;
  return (
    <ol className="flex flex-col gap-0.5 border-t pt-3">
      {rows.map((head) => (
        <li key={head.version}>
          <div className="flex items-center gap-2">
            <Row
              head={head}
              aliases={aliases.filter(({ version }) => version === head.version)}
              chosen={head.version === chosenVersion}
              onChoose={() => setChosen(head.version === chosenVersion ? undefined : head.version)}
            />
            <Promote version={head.version} aliases={aliases} />
          </div>
          {head.version === chosenVersion && (
            <div className="flex flex-col gap-4 px-2.5 pt-2 pb-4">
              <OtherAlias version={head.version} />
              <StartCanary version={head.version} />
              <div>
                <RunTests version={head.version} />
              </div>
              <Compared key={head.version} version={head.version} onRestored={onRestored} />
            </div>
          )}
        </li>
      ))}
      {hasNextPage && (
        <li>
          <Button size="sm" variant="ghost" busy={isFetchingNextPage} onClick={() => void fetchNextPage()}>
            {VERSIONS_DIALOG.olderVersions}
          </Button>
        </li>
      )}
    </ol>
  );
};

export const VersionsDialog = ({ onClose }: { onClose: () => void }) => {
  const { pending } = useDocument((state) => state.published);
  return (
    <Dialog title={VERSIONS_DIALOG.versions} width="lg" onClose={onClose}>
      <div className="flex flex-col gap-5">
        {pending && <PendingChange />}
        <Publish />
        <Aliases />
        <Tests />
        <section aria-label={VERSIONS_DIALOG.publishedVersions}>
          <List onRestored={onClose} />
        </section>
      </div>
    </Dialog>
  );
};
