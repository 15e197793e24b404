import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { Button } from "../../../ui/button";
import { Notice } from "../../../ui/notice";
import { Card } from "../../../ui/page";
import { Time } from "../../../ui/time";
import { request } from "../../../api/client";
import { FormDialog } from "../../../parts/form";
import { Loaded } from "../../../parts/loaded";
import { CodeField } from "../../../parts/sign-in/code-field";
import { PasswordField } from "../../../parts/sign-in/password-field";
import { EnrolDialog } from "./enrol-dialog";
import { secondFactorQuery } from "../../../parts/sign-in/second-factor";
import { CARD } from "../../../messages/account";

/** With fewer recovery codes than this, new ones are recommended. */
const FEW_CODES = 3;

const disable = (data: FormData) =>
  request("disableSecondFactor", { body: { password: String(data.get("password")), code: String(data.get("code")) } });

export const SecondFactorCard = ({ email }: { email: string }) => {
  const factor = useQuery(secondFactorQuery);
  const [asking, setAsking] = useState<"on" | "off">();
  const close = (): void => {
    setAsking(undefined);
    void factor.refetch();
  };
  return (
    <Card title={CARD.twoFactorAuthentication}>
      <Loaded of={factor}>
        {(data) => (
          <div className="flex flex-col items-start gap-4 text-sm">
            {data.onSince === null ? (
              <p className="text-muted">
                {!data.hasPassword ? CARD.signInThroughProvider : data.available ? CARD.turnOnHint : CARD.noEncryptionKey}
              </p>
            ) : (
              <p className="text-muted">
                {CARD.turnedOn} <Time iso={data.onSince} />
                {CARD.codesLeft(data.recoveryCodesLeft)}
              </p>
            )}
            {data.onSince !== null && data.recoveryCodesLeft < FEW_CODES && <Notice kind="warn">{CARD.fewRecoveryCodes}</Notice>}
            {data.onSince === null ? (
              <Button variant="primary" disabled={!data.available || !data.hasPassword} onClick={() => setAsking("on")}>
                {CARD.turnOn}
              </Button>
            ) : (
              <Button onClick={() => setAsking("off")}>{CARD.turnOff}</Button>
            )}
          </div>
        )}
      </Loaded>
      {asking === "on" && <EnrolDialog email={email} onClose={close} />}
      {asking === "off" && (
        <FormDialog
          title={CARD.turnOffTwoFactorAuthentication}
          action={CARD.turnOff}
          danger
          submit={disable}
          successText={CARD.twoFactorAuthenticationIsOff}
          onClose={close}
        >
          <PasswordField email={email} />
          <CodeField />
        </FormDialog>
      )}
    </Card>
  );
};
