import type { WorkflowAlias } from "@nodeloom/client";
import { ALIAS, PRODUCTION } from "@nodeloom/kernel/limits";
import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { Button } from "../../ui/button";
import { Field, Input } from "../../ui/inputs/field";
import { useDocument, useEditor } from "../context";
import { CanaryState } from "./canary";
import { aliasesQuery } from "./queries";
import { useAliasChange } from "./use-alias-change";
import { COMMON } from "../../messages/common";
import { ALIASES } from "../../messages/editor/versions";

const STAGING = "staging";

/** Points `production` to a version with one click. */
export const Promote = ({ version, aliases }: { version: number; aliases: readonly WorkflowAlias[] }) => {
  const { busy, point } = useAliasChange();
  const current = aliases.find(({ name }) => name === PRODUCTION)?.version ?? null;
  if (current === null || current === version) return null;
  return (
    <Button size="sm" busy={busy} onClick={() => void point(PRODUCTION, version, current)}>
      {version > current ? ALIASES.promote : ALIASES.rollBack}
      <span className="sr-only"> {ALIASES.toVersion(version)}</span>
    </Button>
  );
};

/** Points an alias of any name to a version. */
export const OtherAlias = ({ version }: { version: number }) => {
  const { slug } = useEditor();
  const { data: aliases = [] } = useQuery(aliasesQuery(slug));
  const { busy, point } = useAliasChange();
  const [name, setName] = useState(STAGING);
  const current = aliases.find((alias) => alias.name === name)?.version ?? null;
  return (
    <form
      className="flex items-end gap-2"
      onSubmit={(event) => {
        event.preventDefault();
        void point(name, version, current);
      }}
    >
      <Field label={ALIASES.alias} hint={ALIASES.aliasHint}>
        {(attributes) => <Input {...attributes} value={name} onText={setName} />}
      </Field>
      <Button type="submit" size="sm" busy={busy} disabled={!ALIAS.test(name) || current === version} className="sm:mb-5">
        {ALIASES.pointToVersion(version)}
      </Button>
    </form>
  );
};

/** Existing aliases, with buttons to delete them. */
export const Aliases = () => {
  const { slug } = useEditor();
  const { version } = useDocument((state) => state.published);
  const { data = [] } = useQuery({ ...aliasesQuery(slug), enabled: version !== null });
  const { busy, remove } = useAliasChange();
  const set = data.filter(({ isDefault }) => !isDefault);
  if (set.length === 0) return null;
  return (
    <section aria-label={ALIASES.aliases}>
      <ul className="flex flex-col gap-1 text-sm">
        {set.map((alias) => (
          <li key={alias.name} className="flex flex-col gap-1 px-2.5">
            <div className="flex flex-wrap items-center gap-3">
              <span className="min-w-0 flex-1 wrap-anywhere max-sm:basis-full">
                <span className="font-medium">{alias.name}</span>{" "}
                <span className="text-muted">
                  {ALIASES.runsVersion} {alias.version}
                </span>
              </span>
              <Button size="sm" variant="ghost" busy={busy} onClick={() => void remove(alias.name)}>
                {alias.name === PRODUCTION ? ALIASES.followNewest : COMMON.delete}
                {alias.name !== PRODUCTION && <span className="sr-only"> {ALIASES.namedAlias(alias.name)}</span>}
              </Button>
            </div>
            <CanaryState alias={alias} />
          </li>
        ))}
      </ul>
    </section>
  );
};
