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
import { COMMON } from "../../messages/common";
import { KEY_DIALOG } from "../../messages/models";

const counted = (count: number): string => `${count} ${count === 1 ? "model" : "models"}`;

/** Result of testing a key. */
const outcomeWords = (
  { account, models }: ProviderKey,
  { outcome, message }: ProviderKeyTest,
): Pick<NoticeProps, "kind" | "title"> & { text: string } => {
  switch (outcome) {
    case "works":
      return { kind: "ok", title: KEY_DIALOG.theKeyWorks, text: KEY_DIALOG.ofCanRun(counted(models.length), account) };
    case "refused":
      return { kind: "bad", title: KEY_DIALOG.rejectedTheKey(account), text: message ?? "" };
    case "unreachable":
      return { kind: "warn", title: KEY_DIALOG.cantReach(account), text: message ?? "" };
    case "not_set":
      return { kind: "warn", title: KEY_DIALOG.noApiKey, text: KEY_DIALOG.addOneFirst };
    case "not_testable":
      return {
        kind: "info",
        title: KEY_DIALOG.apiKeySaved,
        text: KEY_DIALOG.cantTest(account),
      };
  }
};

const stateWords = ({ source, hint, setBy, setAt }: ProviderKey): string => {
  if (source === "environment") return KEY_DIALOG.setInEnvironment;
  if (source === null) return KEY_DIALOG.notSet;
  const parts = [
    KEY_DIALOG.endsIn(hint),
    setBy?.email ? KEY_DIALOG.setBy(setBy.email) : "",
    setAt === null ? "" : KEY_DIALOG.on(dateTime(setAt)),
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
          {COMMON.remove}
        </Button>
      )}
      {source !== null && testable && (
        <Button busy={testing.busy} onClick={() => void testing.run(test)}>
          {KEY_DIALOG.test}
        </Button>
      )}
    </>
  );
  const outcomeText = tested && outcomeWords(providerKey, tested);
  return (
    <FormDialog
      title={KEY_DIALOG.apiKeyFor(account)}
      width="md"
      action={source === "environment" ? undefined : source === null ? KEY_DIALOG.addKey : KEY_DIALOG.replaceKey}
      cancel={COMMON.close}
      disabled={value.trim() === ""}
      reads={READS}
      submit={save}
      onClose={onClose}
      others={others}
    >
      <p className="text-sm text-muted">{KEY_DIALOG.ofUseIt(counted(models.length), account, stateWords(providerKey))}</p>
      {outcomeText && (
        <Notice kind={outcomeText.kind} title={outcomeText.title}>
          {outcomeText.text}
        </Notice>
      )}
      {source !== "environment" && (
        <InputField
          label={<code className="font-mono text-xs">{name}</code>}
          hint={KEY_DIALOG.storageHint}
          aside={
            keysUrl === null ? undefined : (
              <a
                href={keysUrl}
                target="_blank"
                rel="noreferrer"
                className="inline-flex items-center gap-1 text-xs text-accent-text underline"
              >
                {KEY_DIALOG.getAKey} <ExternalLink className="size-3" aria-hidden />
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
