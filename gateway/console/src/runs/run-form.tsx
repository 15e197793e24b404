import { FileValue } from "../media/file-value";
import { FILE_VALUE } from "../messages/media";
import { DeclaredForm, type DeclaredFormProps, type FileControl } from "../ui/inputs/declared-form";

interface RunFormProps extends Omit<DeclaredFormProps, "renderFile"> {
  mayUpload?: boolean;
}

const isGiven = (value: unknown): boolean => typeof value === "string" && value !== "";

const upload: FileControl = ({ field, ...props }) => (
  <FileValue
    {...props}
    isExample={isGiven(field.default) && props.value === field.default}
    // The service has no value for "no file": an omitted input takes its default.
    hint={isGiven(field.default) && props.value === "" ? FILE_VALUE.emptyMeansExample : undefined}
  />
);
const address: FileControl = ({ field: _, ...props }) => <FileValue {...props} isOffered={false} />;

export const RunForm = ({ mayUpload = true, ...form }: RunFormProps) => (
  <DeclaredForm {...form} renderFile={mayUpload ? upload : address} />
);
