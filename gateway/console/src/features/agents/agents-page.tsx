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
    const made = await run(async () => (await request("createKey", { body: { name: "Agent", capabilities } })).body);
    if (made) onMade(made.key);
  };
  if (denied)
    return (
      <Notice kind="info" title="Keys come with Pro">
        An agent needs an API key, which the free tier does not have.
      </Notice>
    );
  return (
    <div className="flex flex-col gap-3">
      <Check
        label="It may build workflows, too"
        hint="It saves and changes yours; without this it only reads and runs them."
        checked={builds}
        onCheck={setBuilds}
      />
      <div>
        <Button icon={KeyRound} variant="primary" busy={busy} disabled={!me.user.approved} onClick={() => void make()}>
          Make a key for an agent
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
  const shown = AGENT_CLIENTS.find(({ name }) => name === client)!;
  const url = `${location.origin}/mcp${models ? "?models=true" : ""}`;
  return (
    <Page
      title="Connect an agent"
      lead="Agents find, price, run and build your workflows by the Model Context Protocol. What a run may cost at most is a part of every call."
    >
      <div className="flex max-w-3xl flex-col gap-7">
        <section>
          <Heading>1. What it gets</Heading>
          <p className="mb-3 text-sm text-muted">
            Workflows become tools of their own where “Tool of agents” is on in their settings; all of them can be run by their name.
          </p>
          {mayRunModels(me) && (
            <Check label="Models, too" hint="Each model that the key may run becomes a tool." checked={models} onCheck={setModels} />
          )}
        </section>
        <section>
          <Heading>2. A key</Heading>
          {key === undefined ? (
            <AgentKey me={me} models={models && mayRunModels(me)} onMade={setKey} />
          ) : (
            <Notice kind="warn" title="The key is in the text below, this once">
              Copy it now: only its hash is kept, and nobody can show it again.
            </Notice>
          )}
        </section>
        <section>
          <Heading>3. The client</Heading>
          <Tabs label="Client" tabs={AGENT_CLIENTS} chosen={client} onChoose={setClient}>
            <div className="pt-3">
              <p className="mb-2 text-sm text-muted">{shown.place}</p>
              <Code text={shown.text(url, key ?? KEY_PLACEHOLDER)} label={`Configuration of ${shown.title}`} wrap />
              {client === "vs-code" && key !== undefined && (
                <div className="mt-3">
                  <Code text={key} label="Key" wrap />
                </div>
              )}
            </div>
          </Tabs>
        </section>
        <Notice>
          More about it in the{" "}
          <a href="/docs/guide/mcp.md" target="_blank" rel="noopener" className="underline underline-offset-2">
            guide
          </a>
          .
        </Notice>
      </div>
    </Page>
  );
};
