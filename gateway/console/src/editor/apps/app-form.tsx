import type { AppSettings } from "@nodeloom/client";
import { safeUrl } from "../../media/url";
import { UploadButton } from "../../media/upload-button";
import { Button } from "../../ui/button";
import { AreaField, InputField, SelectField } from "../../ui/inputs/field";
import { NumberField } from "../../ui/inputs/value-inputs";

export interface AppFormProps {
  app: AppSettings;
  /** The workflow's name, used if the app has none. */
  name: string;
  /** Origins as typed. */
  origins: string;
  onChange: (changes: Partial<AppSettings>) => void;
  onOrigins: (text: string) => void;
}

const Cover = ({ cover, onChange }: { cover: string | null; onChange: (cover: string | null) => void }) => {
  const picture = safeUrl(cover);
  return (
    <div>
      <p className="mb-1 text-[13px] font-medium">Cover</p>
      <div className="flex flex-wrap items-center gap-3">
        {picture !== undefined && <img src={picture} alt="Cover" className="h-16 w-28 rounded-lg border object-cover" />}
        <UploadButton
          accept="image/*"
          label={picture === undefined ? "Upload a picture" : "Another picture"}
          onDone={({ url }) => onChange(url)}
        />
        {cover !== null && (
          <Button size="sm" onClick={() => onChange(null)}>
            Remove it
          </Button>
        )}
      </div>
    </div>
  );
};

const Limits = ({ app, onChange }: Pick<AppFormProps, "app" | "onChange">) => (
  <div className="grid gap-4 sm:grid-cols-2">
    <NumberField
      label="Credits a day"
      hint="For all visitors together: past it runs are refused. Begins anew at midnight, UTC."
      value={app.dailyCredits}
      onChange={(dailyCredits = 0) => onChange({ dailyCredits })}
    />
    <NumberField
      label="Runs of one visitor a day"
      value={app.perVisitorPerDay}
      onChange={(perVisitorPerDay = 1) => onChange({ perVisitorPerDay })}
    />
  </div>
);

export const AppForm = ({ app, name, origins, onChange, onOrigins }: AppFormProps) => (
  <div className="flex flex-col gap-4">
    <InputField label="Title" maxLength={100} placeholder={name} value={app.title} onText={(text) => onChange({ title: text })} />
    <SelectField label="Who pays" value={app.payer} onText={(text) => onChange({ payer: text === "runner" ? "runner" : "owner" })}>
      <option value="owner">You: visitors need no account</option>
      <option value="runner">Each visitor, signed in (a public playground)</option>
    </SelectField>
    {app.payer === "owner" && <Limits app={app} onChange={onChange} />}
    <Cover cover={app.cover} onChange={(cover) => onChange({ cover })} />
    <SelectField label="Theme" value={app.theme} onText={(text) => onChange({ theme: text as AppSettings["theme"] })}>
      <option value="auto">As the visitor's system</option>
      <option value="light">Light</option>
      <option value="dark">Dark</option>
    </SelectField>
    <AreaField
      label="Sites that may embed it"
      hint="One a line, such as https://example.com. Their pages may use its tokens, too."
      rows={2}
      spellCheck={false}
      value={origins}
      onText={onOrigins}
    />
  </div>
);
