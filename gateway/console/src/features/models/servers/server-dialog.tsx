import type { ModelServer } from "@nodeloom/client";
import { Link } from "@tanstack/react-router";
import { titled } from "../../../ui/format";
import { request } from "../../../api/client";
import { useChange } from "../../../api/use-change";
import { Badge } from "../../../ui/badge";
import { Button } from "../../../ui/button";
import { Select } from "../../../ui/inputs/field";
import { Notice } from "../../../ui/notice";
import { Dialog } from "../../../ui/overlays/dialog";
import { MAKES, SERVER_READS } from "./query";
import { UploadWorkflow } from "./upload-workflow";
import { COMMON } from "../../../messages/common";
import { SERVER_DIALOG } from "../../../messages/models";

type Makes = keyof typeof MAKES;
type Send = ReturnType<typeof useChange>["send"];

const ModelName = ({ internalName, title }: { internalName: string | null; title: string }) =>
  internalName === null ? (
    <span className="text-sm wrap-anywhere">{title}</span>
  ) : (
    <Link to="/models/$internalName" params={{ internalName }} className="text-sm text-accent-text underline wrap-anywhere">
      {title}
    </Link>
  );

const Models = ({ server, send }: { server: ModelServer; send: Send }) => (
  <ul className="divide-y">
    {server.models.map(({ id, makes, internalName }) => (
      <li key={id} className="flex items-center gap-3 py-2">
        <div className="min-w-0 flex-1">
          <ModelName internalName={internalName} title={id} />
        </div>
        <Select
          aria-label={SERVER_DIALOG.outputTypeOf(id)}
          className="w-36!"
          value={makes}
          onChange={(event) => {
            const choice = { id, makes: event.target.value as Makes };
            void send(() => request("adminUpdateModelServer", { params: { id: server.id }, body: { models: [choice] } }));
          }}
          options={Object.entries(MAKES)}
        />
      </li>
    ))}
    {server.models.length === 0 && <li className="py-2 text-sm text-muted">{SERVER_DIALOG.noModelsYet}</li>}
  </ul>
);

const Workflows = ({ server, send }: { server: ModelServer; send: Send }) => (
  <ul className="divide-y">
    {server.workflows.map(({ slug, name, modality, internalName, inputs }) => (
      <li key={slug} className="flex items-center gap-3 py-2">
        <div className="min-w-0 flex-1">
          <ModelName internalName={internalName} title={name} />
          <div className="truncate text-xs text-muted">{`${modality} · ${inputs.join(", ")}`}</div>
        </div>
        <Button
          size="sm"
          variant="ghost"
          aria-label={SERVER_DIALOG.removeWorkflow(name)}
          onClick={() => void send(() => request("adminDeleteServerWorkflow", { params: { id: server.id, workflow: slug } }))}
        >
          {COMMON.remove}
        </Button>
      </li>
    ))}
  </ul>
);

export const ServerDialog = ({ server, onClose }: { server: ModelServer; onClose: () => void }) => {
  const { busy, failure, send } = useChange(...SERVER_READS);
  const params = { id: server.id };
  const remove = (): void =>
    void send(async () => {
      await request("adminDeleteModelServer", { params });
      onClose();
    });
  return (
    <Dialog
      title={server.name}
      width="md"
      onClose={onClose}
      actions={
        <>
          {!server.fromEnvironment && (
            <Button variant="ghost" className="mr-auto" busy={busy} onClick={remove}>
              {SERVER_DIALOG.removeServer}
            </Button>
          )}
          <Button busy={busy} onClick={() => void send(() => request("adminGetModelServer", { params }))}>
            {SERVER_DIALOG.refreshModels}
          </Button>
        </>
      }
    >
      <div className="flex flex-col gap-4">
        <p className="flex flex-wrap items-center gap-2 text-sm text-muted">
          <code className="font-mono text-xs wrap-anywhere">{server.url}</code>
          <Badge tone={server.status === "ready" ? "ok" : "bad"}>{titled(server.status)}</Badge>
          {server.fromEnvironment && <Badge>{SERVER_DIALOG.environment}</Badge>}
          {server.hasKey && <Badge>{SERVER_DIALOG.withApiKey}</Badge>}
        </p>
        {failure !== undefined && <Notice kind="bad">{failure}</Notice>}
        {server.statusReason !== null && <Notice kind="warn">{server.statusReason}</Notice>}
        {server.kind === "openai" ? <Models server={server} send={send} /> : <Workflows server={server} send={send} />}
        {server.kind === "comfyui" && <UploadWorkflow serverId={server.id} />}
      </div>
    </Dialog>
  );
};
