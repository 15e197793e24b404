import { QRCodeSVG } from "qrcode.react";
import { useState } from "react";
import { CodeField } from "../../../parts/sign-in/code-field";
import { request } from "../../../api/client";
import { FormDialog, ShownOnceDialog } from "../../../parts/form";
import { Code } from "../../../ui/copy";
import { Notice } from "../../../ui/notice";
import { PasswordField } from "../../../parts/sign-in/password-field";
import { COMMON } from "../../../messages/common";
import { ENROL_DIALOG } from "../../../messages/account";

const QR_PX = 192;

/** Steps of the dialog: password, secret, recovery codes. */
type Step = { name: "password" } | { name: "secret"; secret: string; url: string } | { name: "codes"; codes: string[] };

const Secret = ({ secret, url }: { secret: string; url: string }) => (
  <>
    <p className="text-sm text-muted">{ENROL_DIALOG.scanHint}</p>
    {/* Scanners want dark on light, in a dark theme, too. */}
    <div className="self-center rounded-xl bg-white p-3">
      <QRCodeSVG value={url} size={QR_PX} title={ENROL_DIALOG.qrCodeLabel} bgColor="#ffffff" fgColor="#000000" />
    </div>
    <Code text={secret} label={ENROL_DIALOG.secret} wrap />
    <CodeField hint={ENROL_DIALOG.codeHint} />
  </>
);

const RecoveryCodes = ({ codes }: { codes: string[] }) => (
  <>
    <Notice kind="ok" title={ENROL_DIALOG.twoFactorAuthenticationIsOn}>
      {ENROL_DIALOG.otherSessionsSignedOut}
    </Notice>
    <Notice kind="warn" title={ENROL_DIALOG.recoveryCodesTitle}>
      {ENROL_DIALOG.recoveryCodesHint}
    </Notice>
    <Code text={codes.join("\n")} label={ENROL_DIALOG.recoveryCodes} />
  </>
);

export const EnrolDialog = ({ email, onClose }: { email: string; onClose: () => void }) => {
  const [step, setStep] = useState<Step>({ name: "password" });
  if (step.name === "codes")
    return (
      <ShownOnceDialog title={ENROL_DIALOG.twoFactorAuthentication} action={ENROL_DIALOG.iSavedThem} width="sm" onClose={onClose}>
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
    <FormDialog
      title={ENROL_DIALOG.twoFactorAuthentication}
      action={step.name === "password" ? COMMON.continue : ENROL_DIALOG.turnOn}
      submit={submit}
      onClose={onClose}
    >
      {step.name === "password" ? <PasswordField email={email} /> : <Secret {...step} />}
    </FormDialog>
  );
};
