import { QRCodeSVG } from "qrcode.react";
import { useState, type FormEvent } from "react";
import { CodeField } from "../../../parts/sign-in/code-field";
import { request } from "../../../api/client";
import { useWork } from "../../../api/use-work";
import { Button } from "../../../ui/button";
import { Code } from "../../../ui/copy";
import { Notice } from "../../../ui/notice";
import { Dialog } from "../../../ui/overlays/dialog";
import { PasswordField } from "../../../parts/sign-in/password-field";

const FORM = "second-factor-on";
const QR_PX = 192;

/** What the dialog shows: the password, then the secret, then the recovery codes. */
type Step = { name: "password" } | { name: "secret"; secret: string; url: string } | { name: "codes"; codes: string[] };

const Secret = ({ secret, url }: { secret: string; url: string }) => (
  <>
    <p className="text-sm text-muted">Scan this with an authenticator app, or type its secret in. Then give the code that it shows.</p>
    {/* Scanners want dark on light, in a dark theme, too. */}
    <div className="self-center rounded-xl bg-white p-3">
      <QRCodeSVG value={url} size={QR_PX} title="The secret as a QR code" bgColor="#ffffff" fgColor="#000000" />
    </div>
    <Code text={secret} label="Secret" wrap />
    <CodeField hint="Six digits. They change every half minute." />
  </>
);

const RecoveryCodes = ({ codes }: { codes: string[] }) => (
  <>
    <Notice kind="ok" title="The second factor is on">
      Every other session has ended.
    </Notice>
    <Notice kind="warn" title="Recovery codes, shown this once">
      Each takes the place of a code once. Keep them where you find them without your phone: without a code only an administrator can let
      you in.
    </Notice>
    <Code text={codes.join("\n")} label="Recovery codes" />
  </>
);

/** Switches the second factor on. */
export const EnrolDialog = ({ email, onClose }: { email: string; onClose: () => void }) => {
  const [step, setStep] = useState<Step>({ name: "password" });
  const { busy, failure, act } = useWork<"send">();
  const submit = (event: FormEvent<HTMLFormElement>): void => {
    event.preventDefault();
    const data = new FormData(event.currentTarget);
    void act("send", async () => {
      if (step.name === "password") {
        const { body } = await request("enrolSecondFactor", { body: { password: String(data.get("password")) } });
        setStep({ name: "secret", ...body });
      } else {
        const { body } = await request("confirmSecondFactor", { body: { code: String(data.get("code")) } });
        setStep({ name: "codes", codes: body.recoveryCodes });
      }
    });
  };
  const isDone = step.name === "codes";
  return (
    <Dialog
      title="Second factor"
      onClose={onClose}
      mayClose={() => !isDone}
      actions={
        isDone ? (
          <Button variant="primary" onClick={onClose}>
            I have kept them
          </Button>
        ) : (
          <Button type="submit" form={FORM} variant="primary" busy={busy !== undefined}>
            {step.name === "password" ? "Go on" : "Switch on"}
          </Button>
        )
      }
    >
      <form id={FORM} key={step.name} className="flex flex-col gap-4" onSubmit={submit}>
        {failure !== undefined && <Notice kind="bad">{failure}</Notice>}
        {step.name === "password" && <PasswordField email={email} />}
        {step.name === "secret" && <Secret secret={step.secret} url={step.url} />}
        {step.name === "codes" && <RecoveryCodes codes={step.codes} />}
      </form>
    </Dialog>
  );
};
