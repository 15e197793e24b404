import { inputFields, savedValues } from "@nodeloom/kernel/graph";
import { PRODUCTION } from "@nodeloom/kernel/limits";
import { useQuery } from "@tanstack/react-query";
import { KeyRound } from "lucide-react";
import { useState } from "react";
import { request } from "../../api/client";
import { useChange } from "../../api/use-change";
import { kernelGraph } from "../../document/graph";
import { initialValues, sentInputs } from "../../runs/sent-inputs";
import { curl, python, typescript, type Call } from "../../runs/snippets";
import { Button } from "../../ui/button";
import { Code } from "../../ui/copy";
import { SelectField } from "../../ui/inputs/field";
import { Dialog } from "../../ui/overlays/dialog";
import { Notice } from "../../ui/notice";
import { Tabs } from "../../ui/tabs";
import { useDocument, useEditor, useUi } from "../context";
import { aliasesQuery } from "../versions/queries";
import { isAhead } from "../versions/state";
import { USE_AS_API } from "../../messages/editor/dialogs";

type Language = "curl" | "typescript" | "python";
const LANGUAGES = [
  { name: "curl", title: USE_AS_API.curl },
  { name: "typescript", title: USE_AS_API.typeScript },
  { name: "python", title: USE_AS_API.python },
] as const;
const WRITTEN: Readonly<Record<Language, (call: Call, key?: string) => string>> = { curl, typescript, python };

/** Capabilities to run this workflow and follow its runs. */
const grantsOf = (slug: string): string[] => [`workflow:${slug}:run`, "execution:read"];

/** Creates a key for this workflow and inserts it into the example. */
const useKey = () => {
  const { slug } = useEditor();
  const name = useDocument((state) => state.meta.name);
  const { busy, run } = useChange("keys");
  const [key, setKey] = useState<string>();
  const make = async (): Promise<void> => {
    const newKey = await run(async () => (await request("createKey", { body: { name, capabilities: grantsOf(slug) } })).body);
    if (newKey) setKey(newKey.key);
  };
  return { key, busy, make };
};

/** Shows the panel's run as a program. */
export const UseAsApi = ({ onClose }: { onClose: () => void }) => {
  const { slug } = useEditor();
  const graph = useDocument((state) => state.graph);
  const { version, production } = useDocument((state) => state.published);
  const { data: aliases = [] } = useQuery({ ...aliasesQuery(slug), enabled: version !== null });
  const [alias, setAlias] = useState("");
  const ahead = useDocument(isAhead);
  const typed = useUi((state) => state.typed);
  const maxCredits = useUi((state) => state.maxCredits);
  const [language, setLanguage] = useState<Language>("curl");
  const { key, busy, make } = useKey();
  const fields = inputFields(kernelGraph(graph));
  const inputs = sentInputs(fields, { ...initialValues(fields, savedValues(kernelGraph(graph))), ...typed });
  const call = { baseUrl: location.origin, path: `workflows/${slug}`, inputs, maxCredits, alias };
  return (
    <Dialog title={USE_AS_API.useAsApi} width="md" onClose={onClose}>
      <p className="mb-3 text-sm text-muted">
        {USE_AS_API.intro} <code className="font-mono text-xs">?async=true</code> {USE_AS_API.introPolling}
      </p>
      {ahead && (
        <Notice kind="warn" className="mb-3">
          {USE_AS_API.callersRunVersion} {production}
          {USE_AS_API.publishHint}
        </Notice>
      )}
      {key === undefined ? (
        <div className="mb-3 flex flex-wrap items-center gap-x-3 gap-y-1.5">
          <Button size="sm" icon={KeyRound} busy={busy} onClick={() => void make()}>
            {USE_AS_API.createKey}
          </Button>
          <span className="text-xs text-faint">
            {USE_AS_API.keyScopeHint}{" "}
            <a href="/keys" target="_blank" rel="noopener" className="text-accent-text underline underline-offset-2">
              {USE_AS_API.youAlreadyHave}
            </a>
            .
          </span>
        </div>
      ) : (
        <Notice kind="warn" title={USE_AS_API.keyShownOnce} className="mb-3">
          {USE_AS_API.keyShownOnceHint}
        </Notice>
      )}
      {aliases.length > 1 && (
        <div className="mb-3">
          <SelectField label={USE_AS_API.environment} value={alias} onText={setAlias}>
            {aliases.map(({ name, version: target }) => (
              <option key={name} value={name === PRODUCTION ? "" : name}>
                {USE_AS_API.version(name)} {target})
              </option>
            ))}
          </SelectField>
        </div>
      )}
      <Tabs label={USE_AS_API.language} tabs={LANGUAGES} chosen={language} onChoose={setLanguage}>
        <div className="pt-3">
          <Code text={WRITTEN[language](call, key)} label={USE_AS_API.example(language)} />
        </div>
      </Tabs>
      <Notice className="mt-3">
        {USE_AS_API.allEndpointsHint}{" "}
        <a href="/docs/api" target="_blank" rel="noopener" className="underline underline-offset-2">
          {USE_AS_API.apiReference}
        </a>
        .
      </Notice>
    </Dialog>
  );
};
