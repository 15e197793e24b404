import { useState, type FormEvent } from "react";
import { Button } from "../button";
import { Dialog } from "./dialog";
import { InputField } from "../inputs/field";

const MAX_NAME = 200;

export interface PromptProps {
  title: string;
  label: string;
  initial?: string;
  action: string;
  /** Resolves with whether it was done; the dialog stays where it was not. */
  onSubmit: (value: string) => Promise<boolean>;
  onClose: () => void;
}

/** Asks for one name. */
export const PromptDialog = ({ title, label, initial = "", action, onSubmit, onClose }: PromptProps) => {
  const [value, setValue] = useState(initial);
  const [busy, setBusy] = useState(false);
  const submit = async (event: FormEvent): Promise<void> => {
    event.preventDefault();
    if (value.trim() === "") return;
    setBusy(true);
    const done = await onSubmit(value.trim());
    setBusy(false);
    if (done) onClose();
  };
  return (
    <Dialog
      title={title}
      onClose={onClose}
      actions={
        <>
          <Button onClick={onClose}>Cancel</Button>
          <Button variant="primary" type="submit" form="prompt" busy={busy} disabled={value.trim() === ""}>
            {action}
          </Button>
        </>
      }
    >
      <form id="prompt" onSubmit={(event) => void submit(event)}>
        <InputField label={label} value={value} maxLength={MAX_NAME} autoFocus onText={setValue} />
      </form>
    </Dialog>
  );
};

export interface ConfirmProps {
  title: string;
  text: string;
  action: string;
  onConfirm: () => Promise<unknown>;
  onClose: () => void;
}

/** Asks before something that can't be undone. */
export const ConfirmDialog = ({ title, text, action, onConfirm, onClose }: ConfirmProps) => {
  const [busy, setBusy] = useState(false);
  return (
    <Dialog
      title={title}
      onClose={onClose}
      actions={
        <>
          <Button onClick={onClose} autoFocus>
            Cancel
          </Button>
          <Button
            variant="danger"
            busy={busy}
            onClick={() => {
              setBusy(true);
              void Promise.resolve(onConfirm()).then(onClose);
            }}
          >
            {action}
          </Button>
        </>
      }
    >
      <p className="text-sm wrap-anywhere">{text}</p>
    </Dialog>
  );
};
