import type { FormEvent } from "react";
import { CodeField } from "../../../parts/sign-in/code-field";
import { request } from "../../../api/client";
import { useWork } from "../../../api/use-work";
import { Button } from "../../../ui/button";
import { Notice } from "../../../ui/notice";
import { Dialog } from "../../../ui/overlays/dialog";
import { say } from "../../../ui/overlays/toast";
import { PasswordField } from "../../../parts/sign-in/password-field";

const FORM = "second-factor-off";

/** Switches the second factor off, by the password and a code. */
export const DisableDialog = ({ email, onClose }: { email: string; onClose: () => void }) => {
  const { busy, failure, act } = useWork<"off">();
  const submit = (event: FormEvent<HTMLFormElement>): void => {
    event.preventDefault();
    const data = new FormData(event.currentTarget);
    void act("off", async () => {
      await request("disableSecondFactor", { body: { password: String(data.get("password")), code: String(data.get("code")) } });
      say("The second factor is off.");
      onClose();
    });
  };
  return (
    <Dialog
      title="Switch the second factor off"
      onClose={onClose}
      actions={
        <Button type="submit" form={FORM} variant="danger" busy={busy !== undefined}>
          Switch off
        </Button>
      }
    >
      <form id={FORM} className="flex flex-col gap-4" onSubmit={submit}>
        {failure !== undefined && <Notice kind="bad">{failure}</Notice>}
        <PasswordField email={email} />
        <CodeField />
      </form>
    </Dialog>
  );
};
