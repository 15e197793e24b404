import { useQuery, useSuspenseQuery, keepPreviousData, queryOptions } from "@tanstack/react-query";
import { Files, Trash2 } from "lucide-react";
import { useState } from "react";
import { Pager } from "../../parts/pager";
import { LoadFailure } from "../../parts/error-pages";
import { useTheme, type Theme } from "../../parts/theme";
import { request } from "../../api/client";
import { fileOf } from "../../media/files-in";
import { meQuery } from "../../api/queries";
import { useChange } from "../../api/use-change";
import { fileTitle } from "../../media/file-title";
import { MediaView } from "../../media/media-view";
import { Badge } from "../../ui/badge";
import { Button, IconButton } from "../../ui/button";
import { SelectField } from "../../ui/inputs/field";
import { bytes, credits, titled } from "../../ui/format";
import { Empty, Skeleton } from "../../ui/notice";
import { Card, Facts, Page } from "../../ui/page";
import { Time } from "../../ui/time";
import { MailCard } from "./mail/mail-card";
import { ExportCard } from "./leaving/export-card";
import { LeavingCard } from "./leaving/leaving-card";
import { ProviderCard } from "./provider-card";
import { SecondFactorCard } from "./second-factor/card";
import { PasswordForm } from "./password-form";
import { COMMON } from "../../messages/common";
import { ACCOUNT_PAGE } from "../../messages/account";

const mediaQuery = (cursor: string | undefined) =>
  queryOptions({
    queryKey: ["media", cursor ?? ""],
    queryFn: async ({ signal }) =>
      (await request("listMedia", { query: { limit: 24, ...(cursor === undefined ? {} : { cursor }) }, signal })).body,
    placeholderData: keepPreviousData,
  });

const THEMES: readonly (readonly [Theme, string])[] = [
  ["system", ACCOUNT_PAGE.matchSystem],
  ["light", ACCOUNT_PAGE.light],
  ["dark", ACCOUNT_PAGE.dark],
];

const FilesCard = () => {
  const [cursor, setCursor] = useState<string>();
  const files = useQuery(mediaQuery(cursor));
  const { busy, run } = useChange("media");
  const { data } = files;
  return (
    <Card
      title={ACCOUNT_PAGE.yourFiles}
      actions={
        data && (
          <span className="text-xs text-muted tabular-nums">
            {ACCOUNT_PAGE.used(bytes(data.usedBytes), data.quotaBytes === null ? "" : bytes(data.quotaBytes))}
          </span>
        )
      }
    >
      {files.isPending && <Skeleton />}
      {files.isError && <LoadFailure error={files.error} retry={() => void files.refetch()} />}
      {data?.rows.length === 0 && (
        <Empty icon={Files} title={ACCOUNT_PAGE.noFilesYet}>
          {ACCOUNT_PAGE.noFilesHint}
        </Empty>
      )}
      <ul className="grid grid-cols-2 gap-3 sm:grid-cols-3 lg:grid-cols-4">
        {data?.rows.map((file) => {
          const shownFile = fileOf(file);
          return (
            <li key={file.id} className="flex min-w-0 flex-col overflow-hidden rounded-xl border">
              <div className="flex h-28 items-center justify-center bg-sunken">
                {shownFile && (
                  <MediaView file={shownFile} label={fileTitle(file)} className="max-h-28 max-w-full object-contain" width={384} />
                )}
              </div>
              <div className="flex flex-wrap items-center justify-end gap-1 p-2 text-xs">
                <div className="min-w-28 flex-1">
                  <div className="truncate text-muted">
                    {bytes(file.bytes)} · {file.origin}
                  </div>
                  <div className="flex items-center gap-1 text-faint">
                    <Time iso={file.createdAt} />
                    {file.kept && <Badge tone="ok">{ACCOUNT_PAGE.kept}</Badge>}
                  </div>
                </div>
                {!file.kept && (
                  <Button
                    size="sm"
                    variant="ghost"
                    disabled={busy}
                    onClick={() => void run(() => request("keepMedia", { params: { id: file.id } }), ACCOUNT_PAGE.keptFileHint)}
                  >
                    {ACCOUNT_PAGE.keep}
                  </Button>
                )}
                <IconButton
                  icon={Trash2}
                  size="sm"
                  label={ACCOUNT_PAGE.delete(fileTitle(file), bytes(file.bytes))}
                  disabled={busy}
                  onClick={() => void run(() => request("deleteMedia", { params: { id: file.id } }), ACCOUNT_PAGE.fileDeleted)}
                />
              </div>
            </li>
          );
        })}
      </ul>
      <Pager cursor={cursor} nextCursor={data?.nextCursor} onTurn={setCursor} size="sm" />
    </Card>
  );
};

export const AccountPage = () => {
  const { data: me } = useSuspenseQuery(meQuery);
  const { theme, choose } = useTheme();
  if (!me) return null;
  const { user, credits: balance, business } = me;
  return (
    <Page title={COMMON.account}>
      <div className="grid items-start gap-5 lg:grid-cols-2">
        <Card title={ACCOUNT_PAGE.profile}>
          <Facts
            rows={[
              [COMMON.email, user.email],
              [COMMON.plan, titled(user.tier)],
              [COMMON.role, titled(user.role)],
              [ACCOUNT_PAGE.approved, user.approved ? "yes" : "not yet: an administrator will"],
              [
                ACCOUNT_PAGE.company,
                business === null ? "none" : `${business.name}${business.verified ? ", verified" : ACCOUNT_PAGE.notVerified}`,
              ],
              [COMMON.credits, ACCOUNT_PAGE.held(credits(balance.plan + balance.topUp), credits(balance.held))],
              [
                ACCOUNT_PAGE.id,
                <code key="id" className="font-mono text-xs wrap-anywhere">
                  {user.id}
                </code>,
              ],
            ]}
          />
        </Card>
        <Card title={ACCOUNT_PAGE.thisSession}>
          <SelectField label={ACCOUNT_PAGE.appearance} value={theme} onText={(text) => choose(text as Theme)} options={THEMES} />
        </Card>
        <PasswordForm email={user.email} />
        <SecondFactorCard email={user.email} />
        <ProviderCard email={user.email} />
        <MailCard />
        <ExportCard />
        <LeavingCard me={me} />
        <div className="min-w-0 lg:col-span-2">
          <FilesCard />
        </div>
      </div>
    </Page>
  );
};
