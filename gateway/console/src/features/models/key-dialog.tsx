import type { ProviderKey, ProviderKeyTest } from "@nodeloom/client";
import { ExternalLink } from "lucide-react";
import { useState, type FormEvent } from "react";
import { request } from "../../api/client";
import { useWork } from "../../api/use-work";
import { Button } from "../../ui/button";
import { InputField } from "../../ui/inputs/field";
import { Notice, type NoticeProps } from "../../ui/notice";
import { Dialog } from "../../ui/overlays/dialog";
import { dateTime } from "../../ui/format";

const counted = (count: number): string => `${count} ${count === 1 ? "model" : "models"}`;

/** What trying a key has shown. */
const outcomeWords = (
  { account, models }: ProviderKey,
  { outcome, message }: ProviderKeyTest,
): Pick<NoticeProps, "kind" | "title"> & { text: string } => {
  switch (outcome) {
    case "works":
      return { kind: "ok", title: "The key works", text: `${counted(models.length)} of ${account} can run.` };
    case "refused":
      return { kind: "bad", title: `${account} refuses the key`, text: message ?? "" };
    case "unreachable":
      return { kind: "warn", title: `${account} could not be asked`, text: message ?? "" };
    case "not_set":
      return { kind: "warn", title: "There is no key", text: "Add one first." };
    case "not_testable":
      return {
        kind: "info",
        title: "The key is kept",
        text: `${account} has no request that tries a key for free: the first run shows whether it works.`,
      };
  }
};

const stateWords = ({ source, hint, setBy, setAt }: ProviderKey): string => {
  if (source === "environment") return "It is set in the platform's environment, which wins: change it there.";
  if (source === null) return "There is none yet.";
  const parts = [
    `It ends in ${hint ?? "something short"}`,
    setBy?.email ? `set by ${setBy.email}` : "",
    setAt === null ? "" : `on ${dateTime(setAt)}`,
  ];
  return `${parts.filter(Boolean).join(", ")}.`;
};

/** Adds, replaces, tries or removes the key of a provider. */
export const KeyDialog = ({ providerKey, onClose }: { providerKey: ProviderKey; onClose: () => void }) => {
  const [value, setValue] = useState("");
  const { busy, failure, act: attempt } = useWork<"save" | "test" | "remove">("provider-keys", "models");
  const [tested, setTested] = useState<ProviderKeyTest>();
  const { account, name, source, keysUrl, models, testable } = providerKey;
  const params = { name };

  const act: typeof attempt = (what, work) => {
    setTested(undefined);
    return attempt(what, work);
  };
  const test = async (): Promise<void> => setTested((await request("adminTestProviderKey", { params })).body);
  const save = (event: FormEvent): void => {
    event.preventDefault();
    void act("save", async () => {
      await request("adminPutProviderKey", { params, body: { value: value.trim() } });
      setValue("");
      await test();
    });
  };
  const remove = (): void => void act("remove", async () => void (await request("adminDeleteProviderKey", { params })));
  const shown = tested && outcomeWords(providerKey, tested);
  return (
    <Dialog
      title={`${account}: key`}
      width="md"
      onClose={onClose}
      actions={
        <>
          {source === "console" && (
            <Button variant="ghost" className="mr-auto" busy={busy === "remove"} onClick={remove}>
              Remove
            </Button>
          )}
          {source !== null && testable && (
            <Button busy={busy === "test"} onClick={() => void act("test", test)}>
              Test
            </Button>
          )}
          {source !== "environment" && (
            <Button type="submit" form="provider-key" variant="primary" busy={busy === "save"} disabled={value.trim() === ""}>
              {source === null ? "Add the key" : "Replace the key"}
            </Button>
          )}
        </>
      }
    >
      <form id="provider-key" className="flex flex-col gap-4" onSubmit={save}>
        <p className="text-sm text-muted">
          {counted(models.length)} of {account} run with it. {stateWords(providerKey)}
        </p>
        {failure !== undefined && <Notice kind="bad">{failure}</Notice>}
        {shown && (
          <Notice kind={shown.kind} title={shown.title}>
            {shown.text}
          </Notice>
        )}
        {source !== "environment" && (
          <InputField
            label={<code className="font-mono text-xs">{name}</code>}
            hint="It is encrypted, used by the platform alone and never shown again."
            aside={
              keysUrl === null ? undefined : (
                <a
                  href={keysUrl}
                  target="_blank"
                  rel="noreferrer"
                  className="inline-flex items-center gap-1 text-xs text-accent-text underline"
                >
                  Get one <ExternalLink className="size-3" aria-hidden />
                </a>
              )
            }
            type="password"
            autoComplete="off"
            spellCheck={false}
            data-1p-ignore
            data-first
            value={value}
            onText={setValue}
          />
        )}
      </form>
    </Dialog>
  );
};
