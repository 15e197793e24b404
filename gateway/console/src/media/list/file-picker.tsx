import { useState } from "react";
import { messageOf } from "../../api/client";
import { fileTitle } from "../file-title";
import { fileOf } from "../files-in";
import { useLibrary } from "../use-library";
import { isAcceptedType } from "../../ui/inputs/accept";
import { COMMON } from "../../messages/common";
import { FILE_LIST } from "../../messages/file-list";
import { Button } from "../../ui/button";
import { Notice, Skeleton } from "../../ui/notice";
import { Input } from "../../ui/inputs/field";
import { Dialog } from "../../ui/overlays/dialog";
import { Thumb } from "../thumb";

interface FilePickerProps {
  label: string;
  accept: string;
  /** Maximum files to choose. */
  most: number;
  onDone: (ids: readonly string[]) => void;
  onClose: () => void;
}

/** Chooses several of the person's files, in the order of the clicks. */
export const FilePicker = ({ label, accept, most, onDone, onClose }: FilePickerProps) => {
  const [words, setWords] = useState("");
  const library = useLibrary({ words, from: "" });
  const [chosenIds, setChosen] = useState<readonly string[]>([]);
  const files = library.files.filter(({ contentType }) => isAcceptedType(contentType, accept));
  const toggle = (id: string): void =>
    setChosen(chosenIds.includes(id) ? chosenIds.filter((one) => one !== id) : [...chosenIds, id].slice(0, most));
  return (
    <Dialog
      title={FILE_LIST.chooseFiles(label)}
      width="md"
      onClose={onClose}
      actions={
        <>
          <Button onClick={onClose}>{COMMON.cancel}</Button>
          <Button
            variant="primary"
            disabled={chosenIds.length === 0}
            onClick={() => {
              onDone(chosenIds);
              onClose();
            }}
          >
            {FILE_LIST.addFiles(chosenIds.length)}
          </Button>
        </>
      }
    >
      <Input
        type="search"
        className="mb-3"
        aria-label={FILE_LIST.searchFiles}
        placeholder={FILE_LIST.searchByPrompt}
        value={words}
        onText={setWords}
      />
      {library.isPending && <Skeleton lines={6} />}
      {library.isError && (
        <Notice kind="bad" actions={<Button onClick={() => void library.refetch()}>{COMMON.tryAgain}</Button>}>
          {messageOf(library.error)}
        </Notice>
      )}
      {library.data && files.length === 0 && (
        <p className="py-8 text-center text-sm text-muted">{words.trim() === "" ? FILE_LIST.noFiles : FILE_LIST.noMatches}</p>
      )}
      <ul className="grid grid-cols-3 gap-2 sm:grid-cols-5" aria-label={COMMON.files}>
        {files.map((file) => (
          <li key={file.id} className="min-w-0">
            <button
              type="button"
              aria-pressed={chosenIds.includes(file.id)}
              aria-label={fileTitle(file)}
              className="block aspect-square w-full overflow-hidden rounded-lg bg-(--media) aria-pressed:outline-3 aria-pressed:outline-accent"
              onClick={() => toggle(file.id)}
            >
              <Thumb file={fileOf(file)} label="" width={200} className="size-full" />
            </button>
            <span className="mt-0.5 block truncate text-[11px] text-muted">{fileTitle(file)}</span>
          </li>
        ))}
      </ul>
      {library.hasNextPage && (
        <Button className="mt-3" busy={library.isFetchingNextPage} onClick={() => void library.fetchNextPage()}>
          {COMMON.older}
        </Button>
      )}
    </Dialog>
  );
};
