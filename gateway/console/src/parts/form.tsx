import { useId, type ReactNode } from "react";
import { useChange } from "../api/use-change";
import { Button } from "../ui/button";
import { InputField } from "../ui/inputs/field";
import { Notice } from "../ui/notice";
import { Dialog, type DialogProps } from "../ui/overlays/dialog";
import { say } from "../ui/overlays/toast";
import { COMMON } from "../messages/common";

interface Sending {
  /** Throws on failure, which is shown above the fields. `false` keeps a dialog open. */
  submit: (data: FormData) => Promise<unknown>;
  /** First keys of the queries to refresh. */
  reads?: readonly string[];
  /** Notice after success. */
  successText?: string;
}

interface FormBodyProps {
  id?: string;
  failure: string | undefined;
  onSend: (data: FormData, form: HTMLFormElement) => void;
  children: ReactNode;
}

const FormBody = ({ id, failure, onSend, children }: FormBodyProps) => (
  <form
    id={id}
    className="flex flex-col gap-4"
    onSubmit={(event) => {
      event.preventDefault();
      onSend(new FormData(event.currentTarget), event.currentTarget);
    }}
  >
    {failure !== undefined && <Notice kind="bad">{failure}</Notice>}
    {children}
  </form>
);

export interface FormProps extends Sending {
  action: string;
  /** Buttons beside the submit button. */
  others?: ReactNode;
  /** True to clear the fields after success. */
  resets?: boolean;
  children?: ReactNode;
}

/** Fields on a page with a submit button. */
export const Form = ({ submit, reads = [], successText, action, others, resets = false, children }: FormProps) => {
  const { busy, failure, send } = useChange(...reads);
  return (
    <FormBody
      failure={failure}
      onSend={(data, form) =>
        void send(() => submit(data)).then((isDone) => {
          if (!isDone) return;
          if (successText !== undefined) say(successText);
          if (resets) form.reset();
        })
      }
    >
      {children}
      <div className="flex flex-wrap gap-2 [&>*:only-child]:grow">
        <Button type="submit" variant="primary" busy={busy}>
          {action}
        </Button>
        {others}
      </div>
    </FormBody>
  );
};

export interface FormDialogProps extends Sending, Pick<DialogProps, "title" | "width" | "onClose"> {
  /** Label of the submit button. Without it only the other buttons are shown. */
  action: string | undefined;
  danger?: boolean;
  disabled?: boolean;
  cancel?: string;
  /** Buttons before the cancel button. */
  others?: ReactNode;
  children?: ReactNode;
}

/** A dialog with a form. It closes after success, and asks for confirmation if it has no fields. */
export const FormDialog = ({
  submit,
  reads = [],
  successText,
  action,
  danger = false,
  disabled = false,
  cancel = COMMON.cancel,
  others,
  children,
  ...dialog
}: FormDialogProps) => {
  const id = useId();
  const { busy, failure, send } = useChange(...reads);
  const onSend = (data: FormData): void =>
    void send(() => submit(data)).then((isDone) => {
      if (!isDone) return;
      if (successText !== undefined) say(successText);
      dialog.onClose();
    });
  return (
    <Dialog
      {...dialog}
      actions={
        <>
          {others}
          <Button onClick={dialog.onClose} data-first={danger || undefined}>
            {cancel}
          </Button>
          {action !== undefined && (
            <Button type="submit" form={id} variant={danger ? "danger" : "primary"} busy={busy} disabled={disabled}>
              {action}
            </Button>
          )}
        </>
      }
    >
      <FormBody id={id} failure={failure} onSend={onSend}>
        {children}
      </FormBody>
    </Dialog>
  );
};

const MAX_NAME = 200;

interface PromptProps extends Omit<FormDialogProps, "submit"> {
  label: string;
  initial?: string;
  submit: (name: string) => Promise<unknown>;
}

export const PromptDialog = ({ label, initial = "", submit, children, ...form }: PromptProps) => (
  <FormDialog {...form} submit={(data) => submit(String(data.get("name")).trim())}>
    <InputField label={label} name="name" required pattern=".*\S.*" defaultValue={initial} maxLength={MAX_NAME} data-first />
    {children}
  </FormDialog>
);

interface ConfirmProps extends Omit<FormDialogProps, "submit" | "children"> {
  text: ReactNode;
  submit: () => Promise<unknown>;
}

export const ConfirmDialog = ({ text, submit, ...form }: ConfirmProps) => (
  <FormDialog danger {...form} submit={submit}>
    <div className="text-sm wrap-anywhere">{text}</div>
  </FormDialog>
);

/** Shows a value once. Only its button closes the dialog. */
export const ShownOnceDialog = ({ action, children, width = "md", ...dialog }: Omit<DialogProps, "actions"> & { action: string }) => (
  <Dialog
    {...dialog}
    width={width}
    mayClose={() => false}
    actions={
      <Button variant="primary" onClick={dialog.onClose}>
        {action}
      </Button>
    }
  >
    <div className="flex flex-col gap-4">{children}</div>
  </Dialog>
);
