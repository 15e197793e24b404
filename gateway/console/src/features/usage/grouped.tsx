import type { ApiKey, UsageSummary } from "@nodeloom/client";
import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { keyName } from "../../api/key-name";
import { namedKeysQuery } from "../../api/queries";
import { usageGroupsQuery } from "./queries";
import { DownloadButton } from "../../parts/download-button";
import { Input, Select } from "../../ui/inputs/field";
import { Notice } from "../../ui/notice";
import { Card } from "../../ui/page";
import { Bars } from "./bars";
import { COMMON } from "../../messages/common";
import { GROUPED } from "../../messages/usage";

const GROUPINGS = [
  ["key", COMMON.apiKey],
  ["workflow", "workflow"],
  ["model", "model"],
  ["day", "day"],
  ["metadata", "metadata"],
] as const;
type Grouping = (typeof GROUPINGS)[number][0];

const PERIODS = [
  [7, "7 days"],
  [30, "30 days"],
  [90, "90 days"],
  [365, "365 days"],
] as const;
const DAY_MS = 86_400_000;

const NONE: Readonly<Record<Grouping, string>> = {
  key: "the console",
  workflow: GROUPED.directModelCalls,
  model: "",
  day: "",
  metadata: "without",
};

type Group = NonNullable<UsageSummary["groups"]>[number];

const nameOf = (by: Grouping, { group, name }: Group, keys: readonly ApiKey[]): string => {
  if (group === null) return NONE[by];
  return by === "key" ? keyName(keys, group, name ?? `${group} (gone)`) : group;
};

/** Credits grouped by a chosen property, with a CSV download. */
export const Grouped = () => {
  const [by, setBy] = useState<Grouping>("key");
  const [name, setName] = useState("customer");
  const [days, setDays] = useState<number>(30);
  const keys = useQuery(namedKeysQuery).data ?? [];
  const groupBy = by === "metadata" ? `metadata.${name.trim()}` : by;
  const from = new Date(Date.now() - (days - 1) * DAY_MS).toISOString().slice(0, "YYYY-MM-DD".length);
  const isComplete = by !== "metadata" || name.trim() !== "";
  const { data, error } = useQuery({ ...usageGroupsQuery({ groupBy, from }), enabled: isComplete });
  const groups = data?.groups ?? [];
  const file = `/api/usage/summary?${new URLSearchParams({ groupBy, from, format: "csv" }).toString()}`;
  return (
    <Card
      title={GROUPED.spendingByGroup}
      className="mb-5"
      actions={
        <div className="flex flex-wrap items-center gap-2">
          <Select aria-label={GROUPED.groupBy} className="w-32!" value={by} onText={(text) => setBy(text as Grouping)}>
            {GROUPINGS.map(([value, words]) => (
              <option key={value} value={value}>
                {GROUPED.by(words)}
              </option>
            ))}
          </Select>
          {by === "metadata" && <Input aria-label={GROUPED.metadataName} className="w-32!" value={name} onText={setName} />}
          <Select
            aria-label={GROUPED.period}
            className="w-28!"
            value={days}
            onText={(text) => setDays(Number(text))}
            options={PERIODS.map(([count, title]) => [String(count), title])}
          />
          {isComplete && <DownloadButton path={file} label={GROUPED.csv} size="sm" />}
        </div>
      }
    >
      {error && <Notice kind="bad">{error.message}</Notice>}
      {groups.length === 0 && !error && <p className="text-sm text-muted">{GROUPED.noSpending}</p>}
      {groups.length > 0 && (
        <Bars label={GROUPED.creditsByGroup} bars={groups.map((group) => [nameOf(by, group, keys), group.creditsCost] as const)} first />
      )}
      {groups.length > 0 && <p className="mt-2 text-xs text-faint">{GROUPED.groups(groups.length)}</p>}
    </Card>
  );
};
