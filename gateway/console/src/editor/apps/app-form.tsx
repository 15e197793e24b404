import type { AppSettings } from "@nodeloom/client";
import { safeUrl } from "../../media/url";
import { UploadButton } from "../../media/upload-button";
import { Button } from "../../ui/button";
import { AreaField, InputField, SelectField } from "../../ui/inputs/field";
import { NumberField } from "../../ui/inputs/value-inputs";
import { APP_FORM } from "../../messages/editor/apps";

export interface AppFormProps {
  app: AppSettings;
  /** The workflow's name, used if the app has none. */
  name: string;
  /** Origins as the user typed them. */
  origins: string;
  onChange: (changes: Partial<AppSettings>) => void;
  onOrigins: (text: string) => void;
}

const Cover = ({ cover, onChange }: { cover: string | null; onChange: (cover: string | null) => void }) => {
  const picture = safeUrl(cover);
  return (
    <div>
      <p className="mb-1 text-[13px] font-medium">{APP_FORM.cover}</p>
      <div className="flex flex-wrap items-center gap-3">
        {picture !== undefined && <img src={picture} alt={APP_FORM.cover} className="h-16 w-28 rounded-lg border object-cover" />}
        <UploadButton
          accept="image/*"
          label={picture === undefined ? APP_FORM.uploadAnImage : APP_FORM.replaceImage}
          onDone={({ url }) => onChange(url)}
        />
        {cover !== null && (
          <Button size="sm" onClick={() => onChange(null)}>
            {APP_FORM.removeImage}
          </Button>
        )}
      </div>
    </div>
  );
};

const Limits = ({ app, onChange }: Pick<AppFormProps, "app" | "onChange">) => (
  <div className="grid gap-4 sm:grid-cols-2">
    <NumberField
      label={APP_FORM.creditsPerDay}
      hint={APP_FORM.dailyLimitHint}
      value={app.dailyCredits}
      onChange={(dailyCredits = 0) => onChange({ dailyCredits })}
    />
    <NumberField
      label={APP_FORM.runsPerVisitorAndDay}
      value={app.perVisitorPerDay}
      onChange={(perVisitorPerDay = 1) => onChange({ perVisitorPerDay })}
    />
  </div>
);

export const AppForm = ({ app, name, origins, onChange, onOrigins }: AppFormProps) => (
  <div className="flex flex-col gap-4">
    <InputField label={APP_FORM.title} maxLength={100} placeholder={name} value={app.title} onText={(text) => onChange({ title: text })} />
    <SelectField label={APP_FORM.whoPays} value={app.payer} onText={(text) => onChange({ payer: text === "runner" ? "runner" : "owner" })}>
      <option value="owner">{APP_FORM.ownerPays}</option>
      <option value="runner">{APP_FORM.visitorPays}</option>
    </SelectField>
    {app.payer === "owner" && <Limits app={app} onChange={onChange} />}
    <Cover cover={app.cover} onChange={(cover) => onChange({ cover })} />
    <SelectField label={APP_FORM.theme} value={app.theme} onText={(text) => onChange({ theme: text as AppSettings["theme"] })}>
      <option value="auto">{APP_FORM.matchVisitorsSystem}</option>
      <option value="light">{APP_FORM.light}</option>
      <option value="dark">{APP_FORM.dark}</option>
    </SelectField>
    <AreaField label={APP_FORM.sites} hint={APP_FORM.sitesHint} rows={2} spellCheck={false} value={origins} onText={onOrigins} />
  </div>
);
