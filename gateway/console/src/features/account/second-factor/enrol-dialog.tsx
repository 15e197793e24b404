import { QRCodeSVG } from "qrcode.react";
import { useState } from "react";
import { CodeField } from "../../../parts/sign-in/code-field";
import { request } from "../../../api/client";
import { FormDialog, ShownOnceDialog } from "../../../parts/form";
import { Code } from "../../../ui/copy";
import { Notice } from "../../../ui/notice";
import { PasswordField } from "../../../parts/sign-in/password-field";

const QR_PX = 192;

/** Steps of the dialog: password, secret, recovery codes. */
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

export const EnrolDialog = ({ email, onClose }: { email: string; onClose: () => void }) => {
  const [step, setStep] = useState<Step>({ name: "password" });
  if (step.name === "codes")
    return (
      <ShownOnceDialog title="Second factor" action="I have kept them" width="sm" onClose={onClose}>
        <RecoveryCodes codes={step.codes} />
      </ShownOnceDialog>
    );
  const submit = async (data: FormData): Promise<false> => {
    if (step.name === "password") {
      const { body } = await request("enrolSecondFactor", { body: { password: String(data.get("password")) } });
      setStep({ name: "secret", ...body });
    } else {
      const { body } = await request("confirmSecondFactor", { body: { code: String(data.get("code")) } });
      setStep({ name: "codes", codes: body.recoveryCodes });
    }
    return false;
  };
  return (
    <FormDialog title="Second factor" action={step.name === "password" ? "Go on" : "Switch on"} submit={submit} onClose={onClose}>
      {step.name === "password" ? <PasswordField email={email} /> : <Secret {...step} />}
    </FormDialog>
  );
};
