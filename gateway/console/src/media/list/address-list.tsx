import { useState } from "react";
import { FILE_VALUE } from "../../messages/media";
import { AreaField } from "../../ui/inputs/field";

interface AddressListProps {
  label: string;
  value: readonly string[];
  error: string | undefined;
  onChange: (value: readonly string[]) => void;
}

const ROWS = 4;

/** A list of files by their addresses, for people who can't upload. */
export const AddressList = ({ label, value, error, onChange }: AddressListProps) => {
  const [text, setText] = useState(() => value.join("\n"));
  return (
    <AreaField
      label={label}
      hint={FILE_VALUE.onePerLine}
      error={error}
      rows={ROWS}
      spellCheck={false}
      value={text}
      onText={(next) => {
        setText(next);
        onChange(next.split(/\s+/).filter((line) => line !== ""));
      }}
    />
  );
};
