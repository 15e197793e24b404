import type { AppSettings } from "@nodeloom/client";
import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { useChange } from "../../api/use-change";
import { Button } from "../../ui/button";
import { Code } from "../../ui/copy";
import { Notice, Skeleton } from "../../ui/notice";
import { Dialog } from "../../ui/overlays/dialog";
import { BudgetBar } from "../../parts/budgets/budget-bar";
import { useDocument, useEditor } from "../context";
import { AppForm } from "./app-form";
import { EmbedPreview } from "./embed-preview";
import { SharedAddress } from "./shared-address";
import { appBudgetQuery, appQuery, embedCode, linesOf, NEW_APP, saveApp, shownAppQuery } from "./apps";
import { COMMON } from "../../messages/common";
import { APP_DIALOG } from "../../messages/editor/apps";

/** Address and embedding of a published app, and its spending today. */
const Published = ({ slug, app }: { slug: string; app: AppSettings }) => {
  const budget = useQuery(appBudgetQuery(slug));
  const shownApp = useQuery(shownAppQuery(slug));
  return (
    <div className="mb-5 flex flex-col gap-3 rounded-xl border p-3.5">
      <SharedAddress path={`/a/${slug}`} />
      {app.payer === "owner" && (
        <div>
          <p className="mb-1 text-[13px] font-medium">{APP_DIALOG.spentToday}</p>
          {budget.data ? <BudgetBar budget={budget.data} /> : <p className="text-xs text-faint">{APP_DIALOG.noRunsYet}</p>}
        </div>
      )}
      <Code text={embedCode(slug)} label={APP_DIALOG.embedCode} wrap />
      <EmbedPreview slug={slug} app={app} />
      {app.origins.length === 0 && <p className="text-xs text-faint">{APP_DIALOG.noSitesHint}</p>}
      {shownApp.data && (
        <a
          href={`/apps/${shownApp.data.ownerId}`}
          target="_blank"
          rel="noopener"
          className="text-xs text-accent-text underline underline-offset-2"
        >
          {APP_DIALOG.allAppsOfThisAccount}
        </a>
      )}
    </div>
  );
};

/** Edits the stored settings; changes are kept until they are saved. */
const Editing = ({ stored, onClose }: { stored: AppSettings | null; onClose: () => void }) => {
  const { slug } = useEditor();
  const name = useDocument((state) => state.meta.name);
  const [changes, setChanges] = useState<Partial<AppSettings>>({});
  const [typedOrigins, setTypedOrigins] = useState<string>();
  const { busy, failure, send } = useChange("app", "budgets");
  const before = stored ?? NEW_APP;
  const origins = typedOrigins === undefined ? before.origins : linesOf(typedOrigins);
  const app = { ...before, ...changes, origins };
  const save = (next: AppSettings): void =>
    void send(async () => {
      await saveApp(slug, next);
      setChanges({});
      setTypedOrigins(undefined);
    });
  return (
    <>
      {before.published && <Published slug={slug} app={before} />}
      <AppForm
        app={app}
        name={name}
        origins={typedOrigins ?? before.origins.join("\n")}
        onChange={(more) => setChanges({ ...changes, ...more })}
        onOrigins={setTypedOrigins}
      />
      {failure !== undefined && (
        <Notice kind="bad" className="mt-4">
          {failure}
        </Notice>
      )}
      <div className="mt-5 flex flex-wrap justify-end gap-2">
        <Button onClick={onClose}>{COMMON.close}</Button>
        {before.published && (
          <Button variant="danger" busy={busy} onClick={() => save({ ...before, published: false })}>
            {APP_DIALOG.unpublish}
          </Button>
        )}
        <Button variant="primary" busy={busy} onClick={() => save({ ...app, published: true })}>
          {before.published ? COMMON.save : APP_DIALOG.publish}
        </Button>
      </div>
    </>
  );
};

/** Publishes the workflow as a page for visitors. */
export const AppDialog = ({ onClose }: { onClose: () => void }) => {
  const { slug } = useEditor();
  const stored = useQuery(appQuery(slug));
  return (
    <Dialog title={APP_DIALOG.publishAsAnApp} width="md" onClose={onClose}>
      <p className="mb-4 text-sm text-muted">{APP_DIALOG.intro}</p>
      {stored.isError && <Notice kind="bad">{APP_DIALOG.loadFailed}</Notice>}
      {stored.isPending && <Skeleton lines={5} />}
      {stored.isSuccess && <Editing stored={stored.data} onClose={onClose} />}
    </Dialog>
  );
};
