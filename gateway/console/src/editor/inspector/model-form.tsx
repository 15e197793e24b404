import { taskOf } from "@nodeloom/kernel/graph";
import { useQuery } from "@tanstack/react-query";
import { ChevronRight, Dices } from "lucide-react";
import { isDevelopment } from "../../media/url";
import { tasksQuery } from "../../api/queries";
import { settingAt, settingPath } from "../../canvas/setting-path";
import { anySeed, SEED } from "../../canvas/settings";
import { kindOf } from "../../canvas/kinds";
import { RARE_INPUTS } from "../../canvas/ports";
import type { DocNode } from "../../document/graph";
import { IconButton } from "../../ui/button";
import { SelectField } from "../../ui/inputs/field";
import { Notice } from "../../ui/notice";
import { useEditor } from "../context";
import { propertiesOf } from "../../ui/inputs/properties";
import { SchemaControl } from "../../ui/inputs/schema-control";
import { FileValue } from "../../media/file-value";
import { modelWords } from "../panels/model-state";
import { AnswerForm } from "./answer-form";
import { RouteForm } from "./route-form";
import { useLibraryChoice, useSetting, useWired } from "./use-setting";
import { WiredField } from "./wired-field";
import { COMMON } from "../../messages/common";
import { MODEL_FORM } from "../../messages/editor/inspector";
import { EVERY_FILE } from "../../ui/inputs/accept";

const ModelSelect = ({ node }: { node: DocNode }) => {
  const { models, ui } = useEditor();
  const { set, disabled } = useSetting(node);
  const { modality } = kindOf(node.type);
  const chosenModel = typeof node.data.model === "string" ? node.data.model : "";
  const fitting = models.filter((model) => model.modality === modality && model.enabled);
  const tasks = useQuery(tasksQuery).data?.filter((task) => task.modality === modality) ?? [];
  const task = tasks.find(({ name }) => name === chosenModel);
  const model = fitting.find(({ internalName }) => internalName === (task?.model ?? chosenModel));
  const titleOf = (internalName: string | null): string =>
    fitting.find((one) => one.internalName === internalName)?.displayName ?? MODEL_FORM.noneReady;
  return (
    <SelectField
      label={COMMON.model}
      aside={
        !disabled && (
          <button
            type="button"
            className="text-xs text-accent-text underline underline-offset-2"
            onClick={() => ui.setState({ overlay: "models" })}
          >
            {MODEL_FORM.compareModels}
          </button>
        )
      }
      hint={task && !model ? (task.reason ?? task.summary) : (model?.statusReason ?? model?.description)}
      disabled={disabled}
      value={chosenModel}
      onText={(text) => set(["model"], text, COMMON.chooseModel)}
      options={fitting.map((one) => [one.internalName, modelWords(one)])}
    >
      {chosenModel === "" && <option value="">{COMMON.choose}</option>}
      {tasks.length > 0 && (
        <optgroup label={MODEL_FORM.automaticBestReady}>
          {tasks.map(({ name, summary, model: now }) => (
            <option key={name} value={name}>
              {`${summary}: ${titleOf(now)}`}
            </option>
          ))}
        </optgroup>
      )}
      {chosenModel !== "" && !model && !task && <option value={chosenModel}>{MODEL_FORM.notAvailable(chosenModel)}</option>}
    </SelectField>
  );
};

const SANDBOX = "sandbox";
/** Setting with the schema of an answer. */
const ANSWER_SCHEMA = "schema";

export const ModelForm = ({ node }: { node: DocNode }) => {
  const { schemaOf } = useEditor();
  const { set, disabled } = useSetting(node);
  const wired = useWired(node.id);
  const choose = useLibraryChoice();
  const schema = schemaOf(node);
  const task = typeof node.data.model === "string" ? taskOf(node.data.model) : undefined;
  // Sandbox behaviour is only for tests and developers.
  const properties = propertiesOf(schema).filter(
    ([name]) => name !== SANDBOX || isDevelopment || settingAt(node, settingPath(node, name)) !== undefined,
  );
  const isPrompt = ([name]: (typeof properties)[number]): boolean => name === "prompt";
  const isRare = ([name]: (typeof properties)[number]): boolean => RARE_INPUTS.has(name) && !wired.has(name);
  const [plainInputs, rare] = [properties.filter((one) => !isRare(one)), properties.filter(isRare)];
  const control = ([name, property]: (typeof properties)[number]) => {
    const from = wired.get(name);
    const title = typeof property.title === "string" ? property.title : name;
    if (from !== undefined) return <WiredField key={name} label={title} from={from} />;
    const path = settingPath(node, name);
    if (property.format === "media")
      return (
        <FileValue
          key={name}
          label={title}
          value={String(settingAt(node, path) ?? "")}
          onChange={(value) => set(path, value)}
          accept={EVERY_FILE}
          hint={typeof property.description === "string" ? property.description : undefined}
          disabled={disabled}
          onChoose={() => choose((id) => set(path, id))}
        />
      );
    return (
      <div key={name} className="relative">
        <SchemaControl
          name={name}
          label={title}
          schema={property}
          value={settingAt(node, path)}
          disabled={disabled}
          onChange={(value) => set(path, value)}
        />
        {name === SEED && !disabled && (
          <span className="absolute -top-1 right-0">
            <IconButton
              icon={Dices}
              size="sm"
              label={MODEL_FORM.newRandomSeed}
              onClick={() => set(path, anySeed(property), MODEL_FORM.newRandomSeed)}
            />
          </span>
        )}
      </div>
    );
  };
  return (
    <div className="flex flex-col gap-4">
      <ModelSelect node={node} />
      {task !== undefined && <RouteForm node={node} task={task} />}
      {schema === undefined && typeof node.data.model === "string" && <Notice kind="warn">{MODEL_FORM.modelUnavailable}</Notice>}
      {plainInputs.filter(isPrompt).map(control)}
      {ANSWER_SCHEMA in (kindOf(node.type).rules?.settings ?? {}) && <AnswerForm key={node.id} node={node} />}
      {plainInputs.filter((one) => !isPrompt(one)).map(control)}
      {rare.length > 0 && (
        <details className="group">
          <summary className="flex items-center gap-1 text-[13px] font-medium text-muted">
            <ChevronRight className="size-4 transition-transform group-open:rotate-90" aria-hidden /> {MODEL_FORM.advanced}
          </summary>
          <div className="mt-3 flex flex-col gap-4">{rare.map(control)}</div>
        </details>
      )}
    </div>
  );
};
