import { FileValue } from "../media/file-value";
import { DeclaredForm, type DeclaredField, type DeclaredFormProps, type FileControl } from "../ui/inputs/declared-form";

interface RunFormProps extends Omit<DeclaredFormProps, "renderFile"> {
  mayUpload?: boolean;
}

const upload: FileControl = (props) => <FileValue {...props} />;
const address: FileControl = (props) => <FileValue {...props} isOffered={false} />;

/** The form of a workflow's inputs. */
export const RunForm = ({ mayUpload = true, ...form }: RunFormProps) => (
  <DeclaredForm {...form} renderFile={mayUpload ? upload : address} />
);

/** Values to begin with: what was filled in last, else what is saved, else the defaults. */
export const initialValues = (fields: readonly DeclaredField[], saved: Readonly<Record<string, unknown>>): Record<string, unknown> =>
  Object.fromEntries(
    fields.flatMap(({ name, default: fallback }) => {
      const value = Object.hasOwn(saved, name) ? saved[name] : fallback;
      return value === undefined || value === null ? [] : [[name, value]];
    }),
  );

/** What is sent: values that are set. */
export const sentInputs = (fields: readonly DeclaredField[], values: Readonly<Record<string, unknown>>): Record<string, unknown> =>
  Object.fromEntries(fields.flatMap(({ name }) => (values[name] === undefined || values[name] === "" ? [] : [[name, values[name]]])));
