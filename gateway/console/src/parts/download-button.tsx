import { Download } from "lucide-react";
import { useChange } from "../api/use-change";
import { readFile } from "../api/read-file";
import { Button } from "../ui/button";

const NAME = /filename="?([^";]+)/;

/** Downloads a file. A link couldn't send the organization's header. @throws Error */
const save = async (path: string): Promise<void> => {
  const response = await readFile(path);
  const link = document.createElement("a");
  link.href = URL.createObjectURL(await response.blob());
  link.download = NAME.exec(response.headers.get("content-disposition") ?? "")?.[1] ?? "";
  link.click();
  URL.revokeObjectURL(link.href);
};

export const DownloadButton = ({ path, label, size }: { path: string; label: string; size?: "sm" | "md" }) => {
  const { busy, run } = useChange();
  return (
    <Button icon={Download} busy={busy} {...(size && { size })} onClick={() => void run(() => save(path))}>
      {label}
    </Button>
  );
};
