import { FileValue } from "../media/file-value";
import { DeclaredForm, type DeclaredField, type DeclaredFormProps, type FileControl } from "../ui/inputs/declared-form";

interface RunFormProps extends Omit<DeclaredFormProps, "renderFile"> {
  mayUpload?: boolean;
}

const upload: FileControl = (props) => <FileValue {...props} />;
const address: FileControl = (props) => <FileValue {...props} isOffered={false} />;

export const RunForm = ({ mayUpload = true, ...form }: RunFormProps) => (
  <DeclaredForm {...form} renderFile={mayUpload ? upload : address} />
);

/** Initial values: last typed, else saved, else defaults. */
export const initialValues = (fields: readonly DeclaredField[], saved: Readonly<Record<string, unknown>>): Record<string, unknown> =>
  Object.fromEntries(
    fields.flatMap(({ name, default: fallback }) => {
      const value = Object.hasOwn(saved, name) ? saved[name] : fallback;
      return value === undefined || value === null ? [] : [[name, value]];
    }),
  );

/** Inputs with a value. */
export const sentInputs = (fields: readonly DeclaredField[], values: Readonly<Record<string, unknown>>): Record<string, unknown> =>
  Object.fromEntries(fields.flatMap(({ name }) => (values[name] === undefined || values[name] === "" ? [] : [[name, values[name]]])));
