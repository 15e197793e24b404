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

/** Below this number, new recovery codes are recommended. */
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
    <Card title="Second factor">
      <Loaded of={factor}>
        {(data) => (
          <div className="flex flex-col items-start gap-4 text-sm">
            {data.onSince === null ? (
              <p className="text-muted">
                {!data.hasPassword
                  ? "Your provider signs you in, without a password. A second factor is for passwords."
                  : data.available
                    ? "With it, signing in takes your password and a code from an authenticator on your phone."
                    : "This installation has no key to keep its secret with (SECRETS_KEYS), so that it can't be switched on."}
              </p>
            ) : (
              <p className="text-muted">
                Switched on <Time iso={data.onSince} />. {data.recoveryCodesLeft} recovery codes are left.
              </p>
            )}
            {data.onSince !== null && data.recoveryCodesLeft < FEW_CODES && (
              <Notice kind="warn">Few recovery codes are left. Switch it off and on again for ten new ones.</Notice>
            )}
            {data.onSince === null ? (
              <Button variant="primary" disabled={!data.available || !data.hasPassword} onClick={() => setAsking("on")}>
                Switch on
              </Button>
            ) : (
              <Button onClick={() => setAsking("off")}>Switch off</Button>
            )}
          </div>
        )}
      </Loaded>
      {asking === "on" && <EnrolDialog email={email} onClose={close} />}
      {asking === "off" && (
        <FormDialog
          title="Switch the second factor off"
          action="Switch off"
          danger
          submit={disable}
          done="The second factor is off."
          onClose={close}
        >
          <PasswordField email={email} />
          <CodeField />
        </FormDialog>
      )}
    </Card>
  );
};
