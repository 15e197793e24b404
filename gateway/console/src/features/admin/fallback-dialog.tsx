import type { Model } from "@nodeloom/client";
import { useState } from "react";
import { request } from "../../api/client";
import { useAction } from "../../api/use-action";
import { ModelList } from "../../parts/model-list";
import { Button } from "../../ui/button";
import { Dialog } from "../../ui/overlays/dialog";

/** What is called in a model's place, for nodes that don't say it themselves. */
export const FallbackDialog = ({ model, models, onClose }: { model: Model; models: readonly Model[]; onClose: () => void }) => {
  const { busy, run } = useAction(["models"]);
  const [names, setNames] = useState<string[]>([...model.fallback]);
  const { internalName, modality, displayName } = model;
  const fitting = models.filter((one) => one.modality === modality && one.internalName !== internalName && one.enabled);
  const save = (): void =>
    void run(
      () => request("adminUpdateModel", { params: { internalName }, body: { fallback: names.length === 0 ? null : names } }),
      names.length === 0 ? "Nothing is called in its place." : "The models hold for new runs.",
    ).then(onClose);
  return (
    <Dialog
      title={`In the place of ${displayName}`}
      onClose={onClose}
      actions={
        <>
          <Button onClick={onClose}>Cancel</Button>
          <Button variant="primary" busy={busy} onClick={save}>
            Save
          </Button>
        </>
      }
    >
      <p className="mb-4 text-sm text-muted">For runs of the model, and for nodes that name no models themselves.</p>
      <ModelList names={names} fitting={fitting} disabled={busy} onChange={setNames} />
    </Dialog>
  );
};
