import { useNavigate } from "@tanstack/react-router";
import { Copy } from "lucide-react";
import { request } from "../api/client";
import { useChange } from "../api/use-change";
import { Button } from "../ui/button";
import { useDocument, useEditor } from "./context";
import { handInputs } from "./kept-inputs";
import { TOOLBAR } from "../messages/editor/page";

/** Copies another user's template together with the typed inputs, so that the user can change it. */
export const UseIt = () => {
  const editor = useEditor();
  const { slug, canEdit } = editor;
  const name = useDocument((state) => state.meta.name);
  const navigate = useNavigate();
  const { busy, run } = useChange("workflows");
  if (canEdit) return null;
  const copy = async (): Promise<void> => {
    const { body } = await request("cloneWorkflow", { params: { slug }, body: { name } });
    handInputs(editor, body.slug);
    await navigate({ to: "/workflows/$slug", params: { slug: body.slug }, search: { panel: "run" } });
  };
  return (
    <Button icon={Copy} busy={busy} onClick={() => void run(copy)}>
      {TOOLBAR.useIt}
    </Button>
  );
};
