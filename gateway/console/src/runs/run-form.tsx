import { lazy, Suspense } from "react";
import { FileValue } from "../media/file-value";
import { AddressList } from "../media/list/address-list";
import { FILE_VALUE } from "../messages/media";
import { DeclaredForm, type DeclaredFormProps, type FileControls } from "../ui/inputs/declared-form";
import { Skeleton } from "../ui/notice";

const FileList = lazy(async () => ({ default: (await import("../media/list/file-list")).FileList }));

interface RunFormProps extends Omit<DeclaredFormProps, "files"> {
  mayUpload?: boolean;
}

const isGiven = (value: unknown): boolean => typeof value === "string" && value !== "";

const upload: FileControls = {
  one: ({ field, ...props }) => (
    <FileValue
      {...props}
      isExample={isGiven(field.default) && props.value === field.default}
      hint={isGiven(field.default) && props.value === "" ? FILE_VALUE.noFile : undefined}
    />
  ),
  several: ({ field, ...props }) => (
    <Suspense fallback={<Skeleton lines={3} />}>
      <FileList {...props} examples={Array.isArray(field.default) ? field.default : []} most={field.maxItems} />
    </Suspense>
  ),
};

const addresses: FileControls = {
  one: ({ field: _, ...props }) => <FileValue {...props} isOffered={false} />,
  several: ({ field: _, accept: _accept, ...props }) => <AddressList {...props} />,
};

export const RunForm = ({ mayUpload = true, ...form }: RunFormProps) => <DeclaredForm {...form} files={mayUpload ? upload : addresses} />;
