import type { Schedule } from "@nodeloom/client";
import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { request } from "../../api/client";
import { FormDialog } from "../../parts/form";
import { RunForm } from "../../runs/run-form";
import { initialValues, sentInputs } from "../../runs/sent-inputs";
import { Field, Input, InputField, SelectField } from "../../ui/inputs/field";
import { NumberField } from "../../ui/inputs/value-inputs";
import { Skeleton } from "../../ui/notice";
import { schemaQuery } from "./queries";
import { COMMON } from "../../messages/common";
import { SCHEDULE_DIALOG } from "../../messages/triggers";

const OTHER = "other";
const TIMES = [
  ["0 * * * *", SCHEDULE_DIALOG.everyHour],
  ["0 9 * * *", SCHEDULE_DIALOG.everyMorning],
  ["0 9 * * 1-5", SCHEDULE_DIALOG.everyWeekdayMorning],
  ["0 9 * * 1", SCHEDULE_DIALOG.everyMondayMorning],
  ["0 9 1 * *", SCHEDULE_DIALOG.firstDayOfEveryMonth],
] as const;
/** Text of a simple schedule, such as "Every day at 9"; undefined for other schedules. */
export const timesInWords = (cron: string): string | undefined => TIMES.find(([times]) => times === cron)?.[1];
const DEFAULT_TIME = "0 9 * * *";

const ownZone = (): string => Intl.DateTimeFormat().resolvedOptions().timeZone;

export const ScheduleDialog = ({ slug, schedule, onClose }: { slug: string; schedule?: Schedule; onClose: () => void }) => {
  const schema = useQuery(schemaQuery(slug));
  const fields = schema.data?.fields ?? [];
  const [cron, setCron] = useState<string>(schedule?.cron ?? DEFAULT_TIME);
  const [isOther, setIsOther] = useState(!TIMES.some(([time]) => time === cron));
  const [timezone, setTimezone] = useState(schedule?.timezone ?? ownZone());
  const [typed, setTyped] = useState<Record<string, unknown>>();
  const [maxCredits, setMaxCredits] = useState<number | undefined>(schedule?.maxCredits ?? undefined);
  const values = typed ?? initialValues(fields, schedule?.inputs ?? {});
  const submit = () => {
    const body = { cron: cron.trim(), timezone: timezone.trim(), inputs: sentInputs(fields, values), maxCredits: maxCredits ?? null };
    return schedule
      ? request("updateSchedule", { params: { slug, id: schedule.id }, body })
      : request("createSchedule", { params: { slug }, body });
  };
  return (
    <FormDialog
      title={schedule ? SCHEDULE_DIALOG.editSchedule : SCHEDULE_DIALOG.newSchedule}
      width="md"
      action={schedule ? COMMON.save : SCHEDULE_DIALOG.createSchedule}
      disabled={cron.trim() === "" || !schema.data}
      reads={["schedules"]}
      submit={submit}
      onClose={onClose}
    >
      <SelectField
        label={SCHEDULE_DIALOG.schedule}
        value={isOther ? OTHER : cron}
        onChange={({ target: { value } }) => {
          setIsOther(value === OTHER);
          if (value !== OTHER) setCron(value);
        }}
      >
        {TIMES.map(([time, title]) => (
          <option key={time} value={time}>
            {title}
          </option>
        ))}
        <option value={OTHER}>{SCHEDULE_DIALOG.custom}</option>
      </SelectField>
      {isOther && (
        <InputField
          label={SCHEDULE_DIALOG.cronExpression}
          hint={SCHEDULE_DIALOG.cronHint}
          spellCheck={false}
          value={cron}
          onText={setCron}
        />
      )}
      <Field label={SCHEDULE_DIALOG.timeZone}>
        {(attributes) => (
          <>
            <Input {...attributes} list="time-zones" value={timezone} onText={setTimezone} />
            <datalist id="time-zones">
              {Intl.supportedValuesOf("timeZone").map((zone) => (
                <option key={zone} value={zone} />
              ))}
            </datalist>
          </>
        )}
      </Field>
      <NumberField
        label={SCHEDULE_DIALOG.creditLimitPerRun}
        hint={SCHEDULE_DIALOG.creditLimitHint}
        value={maxCredits}
        onChange={setMaxCredits}
      />
      {schema.isPending ? <Skeleton lines={2} /> : <RunForm fields={fields} values={values} onChange={setTyped} />}
    </FormDialog>
  );
};
