import type { Me } from "@nodeloom/client";
import { useSuspenseQuery } from "@tanstack/react-query";
import { KeyRound } from "lucide-react";
import { useState } from "react";
import { request } from "../../api/client";
import { meQuery } from "../../api/queries";
import { useChange } from "../../api/use-change";
import { Button } from "../../ui/button";
import { Code } from "../../ui/copy";
import { Check } from "../../ui/inputs/field";
import { Notice } from "../../ui/notice";
import { Page } from "../../ui/page";
import { Tabs } from "../../ui/tabs";
import { AGENT_CLIENTS, KEY_PLACEHOLDER, type AgentClientName } from "./clients";
import { AGENTS_PAGE } from "../../messages/agents";

/** Capabilities of agents: find workflows, run, follow and cancel. */
const RUNS = ["workflow:read", "workflow:run", "execution:read", "execution:cancel"] as const;
const BUILDS = "workflow:write";
const MODELS = "model:run";
const WITH_MODELS: ReadonlySet<string> = new Set(["business", "enterprise"]);

const mayRunModels = ({ user: { tier, role } }: Me): boolean => role === "admin" || WITH_MODELS.has(tier);

const Heading = ({ children }: { children: string }) => <h2 className="mb-2 text-sm font-semibold">{children}</h2>;

/** Creates an agent's key, which is shown once in the configuration below. */
const AgentKey = ({ me, models, onMade }: { me: Me; models: boolean; onMade: (key: string) => void }) => {
  const { busy, run } = useChange("keys");
  const [builds, setBuilds] = useState(true);
  const denied = me.user.tier === "free" && me.user.role !== "admin";
  const make = async (): Promise<void> => {
    const capabilities = [...RUNS, ...(builds ? [BUILDS] : []), ...(models ? [MODELS] : [])];
    const newKey = await run(async () => (await request("createKey", { body: { name: "Agent", capabilities } })).body);
    if (newKey) onMade(newKey.key);
  };
  if (denied)
    return (
      <Notice kind="info" title={AGENTS_PAGE.keysRequirePlan}>
        {AGENTS_PAGE.keysRequirePlanHint}
      </Notice>
    );
  return (
    <div className="flex flex-col gap-3">
      <Check label={AGENTS_PAGE.allowBuildingWorkflows} hint={AGENTS_PAGE.allowBuildingHint} checked={builds} onCheck={setBuilds} />
      <div>
        <Button icon={KeyRound} variant="primary" busy={busy} disabled={!me.user.approved} onClick={() => void make()}>
          {AGENTS_PAGE.newKeyForAnAgent}
        </Button>
      </div>
    </div>
  );
};

export const AgentsPage = () => {
  const { data: me } = useSuspenseQuery(meQuery);
  const [key, setKey] = useState<string>();
  const [models, setModels] = useState(false);
  const [client, setClient] = useState<AgentClientName>("claude-code");
  if (!me) return null;
  const shownClient = AGENT_CLIENTS.find(({ name }) => name === client)!;
  const url = AGENTS_PAGE.mcp(location.origin, models ? "?models=true" : "");
  return (
    <Page title={AGENTS_PAGE.connectAnAgent} lead={AGENTS_PAGE.intro}>
      <div className="flex max-w-3xl flex-col gap-7">
        <section>
          <Heading>{AGENTS_PAGE.text1Tools}</Heading>
          <p className="mb-3 text-sm text-muted">{AGENTS_PAGE.toolsHint}</p>
          {mayRunModels(me) && (
            <Check label={AGENTS_PAGE.includeModels} hint={AGENTS_PAGE.modelToolsHint} checked={models} onCheck={setModels} />
          )}
        </section>
        <section>
          <Heading>{AGENTS_PAGE.stepKey}</Heading>
          {key === undefined ? (
            <AgentKey me={me} models={models && mayRunModels(me)} onMade={setKey} />
          ) : (
            <Notice kind="warn" title={AGENTS_PAGE.keyShownOnce}>
              {AGENTS_PAGE.copyNow}
            </Notice>
          )}
        </section>
        <section>
          <Heading>{AGENTS_PAGE.text3Client}</Heading>
          <Tabs label={AGENTS_PAGE.client} tabs={AGENT_CLIENTS} chosen={client} onChoose={setClient}>
            <div className="pt-3">
              <p className="mb-2 text-sm text-muted">{shownClient.place}</p>
              <Code text={shownClient.text(url, key ?? KEY_PLACEHOLDER)} label={AGENTS_PAGE.configurationFor(shownClient.title)} wrap />
              {client === "vs-code" && key !== undefined && (
                <div className="mt-3">
                  <Code text={key} label={AGENTS_PAGE.key} wrap />
                </div>
              )}
            </div>
          </Tabs>
        </section>
        <Notice>
          {AGENTS_PAGE.readMoreInThe}{" "}
          <a href="/docs/guide/mcp.md" target="_blank" rel="noopener" className="underline underline-offset-2">
            {AGENTS_PAGE.guide}
          </a>
          .
        </Notice>
      </div>
    </Page>
  );
};
