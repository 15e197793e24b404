import type { Schedule } from "@nodeloom/client";
import { useQuery, useQueryClient } from "@tanstack/react-query";
import { useState, type FormEvent } from "react";
import { messageOf, request } from "../../api/client";
import { initialValues, RunForm, sentInputs } from "../../runs/run-form";
import { Button } from "../../ui/button";
import { Field, Input, Select } from "../../ui/inputs/field";
import { NumberInput } from "../../ui/inputs/value-inputs";
import { Notice, Skeleton } from "../../ui/notice";
import { Dialog } from "../../ui/overlays/dialog";
import { schemaQuery } from "./queries";

const OTHER = "other";
const TIMES = [
  ["0 * * * *", "Every hour"],
  ["0 9 * * *", "Every day at 9"],
  ["0 9 * * 1-5", "Monday to Friday at 9"],
  ["0 9 * * 1", "Every Monday at 9"],
  ["0 9 1 * *", "On the first of every month at 9"],
] as const;
/** A schedule's times in words, where it has some: "Every day at 9". */
export const timesInWords = (cron: string): string | undefined => TIMES.find(([times]) => times === cron)?.[1];
const DEFAULT_TIME = "0 9 * * *";

const ownZone = (): string => Intl.DateTimeFormat().resolvedOptions().timeZone;

/** Asks when a workflow runs by itself, with what, and what that may cost. */
export const ScheduleDialog = ({ slug, schedule, onClose }: { slug: string; schedule?: Schedule; onClose: () => void }) => {
  const client = useQueryClient();
  const schema = useQuery(schemaQuery(slug));
  const fields = schema.data?.fields ?? [];
  const [cron, setCron] = useState<string>(schedule?.cron ?? DEFAULT_TIME);
  const [isOther, setIsOther] = useState(!TIMES.some(([time]) => time === cron));
  const [timezone, setTimezone] = useState(schedule?.timezone ?? ownZone());
  const [typed, setTyped] = useState<Record<string, unknown>>();
  const [maxCredits, setMaxCredits] = useState<number | undefined>(schedule?.maxCredits ?? undefined);
  const [failure, setFailure] = useState<string>();
  const [busy, setBusy] = useState(false);
  const values = typed ?? initialValues(fields, schedule?.inputs ?? {});
  const submit = async (event: FormEvent): Promise<void> => {
    event.preventDefault();
    setBusy(true);
    setFailure(undefined);
    const body = { cron: cron.trim(), timezone: timezone.trim(), inputs: sentInputs(fields, values), maxCredits: maxCredits ?? null };
    try {
      if (schedule) await request("updateSchedule", { params: { slug, id: schedule.id }, body });
      else await request("createSchedule", { params: { slug }, body });
      void client.invalidateQueries({ queryKey: ["schedules"] });
      onClose();
    } catch (error) {
      setFailure(messageOf(error));
    } finally {
      setBusy(false);
    }
  };
  return (
    <Dialog
      title={schedule ? "Change the schedule" : "New schedule"}
      width="md"
      onClose={onClose}
      actions={
        <>
          <Button onClick={onClose}>Cancel</Button>
          <Button type="submit" form="schedule" variant="primary" busy={busy} disabled={cron.trim() === "" || !schema.data}>
            {schedule ? "Save" : "Set the schedule"}
          </Button>
        </>
      }
    >
      <form id="schedule" className="flex flex-col gap-4" onSubmit={(event) => void submit(event)}>
        {failure !== undefined && <Notice kind="bad">{failure}</Notice>}
        <Field label="When">
          {(attributes) => (
            <Select
              {...attributes}
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
              <option value={OTHER}>Other times…</option>
            </Select>
          )}
        </Field>
        {isOther && (
          <Field label="Cron expression" hint="Minute, hour, day of month, month, day of week: 0 9 * * 1-5">
            {(attributes) => <Input {...attributes} spellCheck={false} value={cron} onChange={(event) => setCron(event.target.value)} />}
          </Field>
        )}
        <Field label="Time zone">
          {(attributes) => (
            <>
              <Input {...attributes} list="time-zones" value={timezone} onChange={(event) => setTimezone(event.target.value)} />
              <datalist id="time-zones">
                {Intl.supportedValuesOf("timeZone").map((zone) => (
                  <option key={zone} value={zone} />
                ))}
              </datalist>
            </>
          )}
        </Field>
        <Field label="Credits of a run at most" hint="A run that could cost more is refused. Empty: no bound but your balance.">
          {(attributes) => <NumberInput {...attributes} value={maxCredits} onChange={setMaxCredits} />}
        </Field>
        {schema.isPending ? <Skeleton lines={2} /> : <RunForm fields={fields} values={values} onChange={setTyped} />}
      </form>
    </Dialog>
  );
};
