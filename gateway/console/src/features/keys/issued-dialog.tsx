import { Button } from "../../ui/button";
import { Code } from "../../ui/copy";
import { Dialog } from "../../ui/overlays/dialog";
import { Notice } from "../../ui/notice";

export interface Issued {
  name: string;
  key?: string;
  webhookSecret?: string;
  warnings?: string[];
}

/** What is shown this once. It closes by its button alone. */
export const IssuedDialog = ({ issued: { name, key, webhookSecret, warnings }, onClose }: { issued: Issued; onClose: () => void }) => (
  <Dialog
    title={`“${name}”`}
    width="md"
    onClose={onClose}
    mayClose={() => false}
    actions={
      <Button variant="primary" onClick={onClose}>
        I have kept it
      </Button>
    }
  >
    <div className="flex flex-col gap-4">
      <Notice kind="warn" title="Shown this once">
        Copy it now: only its hash is kept, and nobody can show it again.
      </Notice>
      {key !== undefined && (
        <div>
          <h3 className="mb-1 text-[13px] font-medium">Key</h3>
          <Code text={key} label="Key" wrap />
        </div>
      )}
      {webhookSecret !== undefined && (
        <div>
          <h3 className="mb-1 text-[13px] font-medium">Webhook secret</h3>
          <Code text={webhookSecret} label="Webhook secret" wrap />
        </div>
      )}
      {warnings?.map((warning) => (
        <Notice key={warning} kind="warn">
          {warning}
        </Notice>
      ))}
    </div>
  </Dialog>
);
