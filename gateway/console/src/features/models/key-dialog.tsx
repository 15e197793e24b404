import type { ProviderKey, ProviderKeyTest } from "@nodeloom/client";
import { ExternalLink } from "lucide-react";
import { useState } from "react";
import { request } from "../../api/client";
import { useChange } from "../../api/use-change";
import { FormDialog } from "../../parts/form";
import { Button } from "../../ui/button";
import { InputField } from "../../ui/inputs/field";
import { Notice, type NoticeProps } from "../../ui/notice";
import { dateTime } from "../../ui/format";

const counted = (count: number): string => `${count} ${count === 1 ? "model" : "models"}`;

/** Result of testing a key. */
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
  if (source === "environment") return "It is set in the platform's environment, which takes precedence: change it there.";
  if (source === null) return "There is none yet.";
  const parts = [
    `It ends in ${hint ?? "something short"}`,
    setBy?.email ? `set by ${setBy.email}` : "",
    setAt === null ? "" : `on ${dateTime(setAt)}`,
  ];
  return `${parts.filter(Boolean).join(", ")}.`;
};

const READS = ["provider-keys", "models"];

export const KeyDialog = ({ providerKey, onClose }: { providerKey: ProviderKey; onClose: () => void }) => {
  const [value, setValue] = useState("");
  const [tested, setTested] = useState<ProviderKeyTest>();
  const [testing, removing] = [useChange(...READS), useChange(...READS)];
  const { account, name, source, keysUrl, models, testable } = providerKey;
  const params = { name };
  const test = async (): Promise<void> => setTested((await request("adminTestProviderKey", { params })).body);
  const save = async (): Promise<false> => {
    setTested(undefined);
    await request("adminPutProviderKey", { params, body: { value: value.trim() } });
    setValue("");
    await test();
    return false;
  };
  const others = (
    <>
      {source === "console" && (
        <Button
          variant="ghost"
          className="mr-auto"
          busy={removing.busy}
          onClick={() => {
            setTested(undefined);
            void removing.run(() => request("adminDeleteProviderKey", { params }));
          }}
        >
          Remove
        </Button>
      )}
      {source !== null && testable && (
        <Button busy={testing.busy} onClick={() => void testing.run(test)}>
          Test
        </Button>
      )}
    </>
  );
  const shown = tested && outcomeWords(providerKey, tested);
  return (
    <FormDialog
      title={`${account}: key`}
      width="md"
      action={source === "environment" ? undefined : source === null ? "Add the key" : "Replace the key"}
      cancel="Close"
      disabled={value.trim() === ""}
      reads={READS}
      submit={save}
      onClose={onClose}
      others={others}
    >
      <p className="text-sm text-muted">
        {counted(models.length)} of {account} run with it. {stateWords(providerKey)}
      </p>
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
    </FormDialog>
  );
};
