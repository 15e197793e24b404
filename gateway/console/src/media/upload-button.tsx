import { useMutation } from "@tanstack/react-query";
import { Upload } from "lucide-react";
import { useRef } from "react";
import { messageOf } from "../api/client";
import { MAX_UPLOAD_BYTES, uploadFile } from "../api/files";
import { Button } from "../ui/button";
import { chooserTypes } from "../ui/inputs/accept";
import { bytes } from "../ui/format";
import { complain } from "../ui/overlays/toast";
import { COMMON } from "../messages/common";
import { UPLOAD_BUTTON } from "../messages/media";

/** Uploads a file; `onDone` gets its id. */
export const UploadButton = ({
  accept,
  disabled,
  onDone,
  label = UPLOAD_BUTTON.uploadFile,
  size = "sm",
}: {
  accept?: string;
  disabled?: boolean;
  label?: string;
  size?: "sm" | "md";
  onDone: (media: { id: string; url: string; contentType: string }) => void;
}) => {
  const input = useRef<HTMLInputElement>(null);
  const uploading = useMutation({ mutationFn: uploadFile });
  const send = async (file: File): Promise<void> => {
    if (file.size > MAX_UPLOAD_BYTES) return complain(UPLOAD_BUTTON.fileTooLarge(file.name, bytes(file.size), bytes(MAX_UPLOAD_BYTES)));
    await uploading
      .mutateAsync(file)
      .then(onDone, (error: unknown) =>
        complain(UPLOAD_BUTTON.couldntUpload(file.name, messageOf(error)), { label: COMMON.tryAgain, run: () => void send(file) }),
      );
  };
  return (
    <>
      <input
        ref={input}
        type="file"
        accept={chooserTypes(accept)}
        className="hidden"
        onChange={(event) => {
          const file = event.target.files?.[0];
          event.target.value = "";
          if (file) void send(file);
        }}
      />
      <Button icon={Upload} size={size} busy={uploading.isPending} disabled={disabled} onClick={() => input.current?.click()}>
        {label}
      </Button>
    </>
  );
};
