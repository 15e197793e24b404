import type { Model } from "@nodeloom/client";
import { useState } from "react";
import { request } from "../../api/client";
import { FormDialog } from "../../parts/form";
import { ModelList } from "../../parts/model-list";
import { COMMON } from "../../messages/common";
import { FALLBACK_DIALOG } from "../../messages/admin-models";

/** Sets a model's default fallback, for nodes without their own. */
export const FallbackDialog = ({ model, models, onClose }: { model: Model; models: readonly Model[]; onClose: () => void }) => {
  const [names, setNames] = useState<string[]>([...model.fallback]);
  const { internalName, modality, displayName } = model;
  const fitting = models.filter((one) => one.modality === modality && one.internalName !== internalName && one.enabled);
  return (
    <FormDialog
      title={FALLBACK_DIALOG.fallbackModelsFor(displayName)}
      action={COMMON.save}
      reads={["models"]}
      submit={() => request("adminUpdateModel", { params: { internalName }, body: { fallback: names.length === 0 ? null : names } })}
      successText={names.length === 0 ? FALLBACK_DIALOG.noFallbackModels : FALLBACK_DIALOG.saved}
      onClose={onClose}
    >
      <p className="text-sm text-muted">{FALLBACK_DIALOG.scopeHint}</p>
      <ModelList names={names} fitting={fitting} disabled={false} onChange={setNames} />
    </FormDialog>
  );
};
