import type { FileVerification } from "@nodeloom/client";
import { LIMITS } from "@nodeloom/kernel/limits";
import { useMutation } from "@tanstack/react-query";
import { FileCheck } from "lucide-react";
import { useRef } from "react";
import { api, messageOf } from "../../api/client";
import { SmallPage } from "../../parts/small-page";
import { Button } from "../../ui/button";
import { bytes } from "../../ui/format";
import { Notice } from "../../ui/notice";
import { Findings } from "./findings";
import { VERIFY_PAGE } from "../../messages/verify";

const tooLarge = (file: File): Error =>
  new Error(`${file.name} has ${bytes(file.size)}; files up to ${bytes(LIMITS.verifiedBytes)} can be verified.`);

const verify = async (file: File): Promise<FileVerification> => {
  if (file.size > LIMITS.verifiedBytes) throw tooLarge(file);
  return api.verify(file);
};

/** Open to everyone: says what made a file, whether its signature is whole, and whether this installation signed it. */
export const VerifyPage = () => {
  const input = useRef<HTMLInputElement>(null);
  const { mutate, data, error, isPending, variables } = useMutation({ mutationFn: verify });
  return (
    <SmallPage title={VERIFY_PAGE.verifyAFile} lead={VERIFY_PAGE.subtitle}>
      <input
        ref={input}
        type="file"
        accept="image/*,video/*,audio/*"
        className="sr-only"
        aria-label={VERIFY_PAGE.fileToVerify}
        tabIndex={-1}
        onChange={({ target }) => {
          const [file] = target.files ?? [];
          // Otherwise choosing the same file again is no change.
          target.value = "";
          if (file) mutate(file);
        }}
      />
      <Button variant="primary" icon={FileCheck} busy={isPending} className="w-full" onClick={() => input.current?.click()}>
        {VERIFY_PAGE.chooseAFile}
      </Button>
      <div aria-live="polite" className="mt-5">
        {error !== null && (
          <Notice kind="bad" title={VERIFY_PAGE.cantVerifyThisFile}>
            {messageOf(error)}
          </Notice>
        )}
        {data !== undefined && <Findings name={variables?.name ?? ""} found={data} />}
      </div>
    </SmallPage>
  );
};
