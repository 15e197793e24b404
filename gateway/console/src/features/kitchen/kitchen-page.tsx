import { PORT_TYPES } from "@nodeloom/kernel/graph";
import { Boxes, Plus, Trash2 } from "lucide-react";
import { useState } from "react";
import { PortMark } from "../../canvas/port-mark";
import { Badge } from "../../ui/badge";
import { Button, ButtonRow, IconButton } from "../../ui/button";
import { Code } from "../../ui/copy";
import { Dialog } from "../../ui/overlays/dialog";
import { Check, Field, InputField, SelectField, TextArea } from "../../ui/inputs/field";
import { Menu } from "../../ui/overlays/menu";
import { Empty, Notice, Skeleton } from "../../ui/notice";
import { Card, Facts, Page } from "../../ui/page";
import { Table } from "../../ui/table";
import { Tabs } from "../../ui/tabs";
import { say } from "../../ui/overlays/toast";
import { NodeAlternatives } from "./node-alternatives";

const LONG = "A name that somebody made very long so that it has to be cut, wrapped, or otherwise kept from breaking everything around it";
const ROWS = [
  { id: "1", name: LONG, amount: 12.345 },
  { id: "2", name: "<img src=x onerror=alert(1)>", amount: 0 },
];

/** All components of the design system, for people and tests. */
export const KitchenPage = () => {
  const [open, setOpen] = useState(false);
  const [tab, setTab] = useState<"one" | "two">("one");
  return (
    <main>
      <Page
        title="Kitchen"
        lead="Every part of the console, in the theme that is chosen."
        actions={<Button onClick={() => say("Said.", { label: "Undo", run: () => say("Undone.") })}>Say something</Button>}
      >
        <div className="grid gap-5 lg:grid-cols-2">
          <Card title="Buttons">
            <ButtonRow>
              <Button variant="primary" icon={Plus}>
                Primary
              </Button>
              <Button>Secondary</Button>
              <Button variant="ghost">Ghost</Button>
              <Button variant="danger">Danger</Button>
              <Button busy>Busy</Button>
              <Button disabled>Disabled</Button>
              <Button size="sm">Small</Button>
              <IconButton icon={Trash2} label="Delete" />
              <Menu
                trigger={<Button>Menu</Button>}
                entries={[
                  { label: "One", keys: "Mod+1", run: () => undefined },
                  null,
                  { label: "Delete", danger: true, icon: Trash2, run: () => undefined },
                ]}
              />
              <Button onClick={() => setOpen(true)}>Dialog</Button>
            </ButtonRow>
          </Card>
          <Card title="Fields">
            <div className="grid gap-4 sm:grid-cols-2">
              <InputField label="Text" hint="A hint." placeholder="Placeholder" />
              <InputField label="Wrong" error="must be a number" defaultValue="seven" />
              <SelectField label="Choice">
                <option>One</option>
              </SelectField>
              <Check label="Check" hint="What it does." defaultChecked />
              <Field label="Long text" className="sm:col-span-2">
                {(attributes) => <TextArea {...attributes} defaultValue={LONG} />}
              </Field>
            </div>
          </Card>
          <Card title="Notices">
            <div className="flex flex-col gap-2">
              <Notice>Information.</Notice>
              <Notice kind="ok" title="Done">
                It worked.
              </Notice>
              <Notice kind="warn" title="Careful">
                Something may be wrong.
              </Notice>
              <Notice kind="bad" title="EXECUTION_FAILED" actions={<Button size="sm">Try again</Button>}>
                {LONG}
              </Notice>
            </div>
          </Card>
          <Card title="Badges, ports and facts">
            <div className="mb-3 flex flex-wrap gap-1.5">
              {(["neutral", "accent", "ok", "warn", "bad"] as const).map((tone) => (
                <Badge key={tone} tone={tone}>
                  {tone}
                </Badge>
              ))}
            </div>
            <div className="mb-3 flex flex-wrap gap-4 text-xs">
              {PORT_TYPES.map((type) => (
                <span key={type} className="flex items-center gap-1.5">
                  <PortMark type={type} />
                  <PortMark type={type} list /> {type}
                </span>
              ))}
            </div>
            <Facts
              rows={[
                ["Name", LONG],
                ["Amount", "12"],
              ]}
            />
          </Card>
          <Card title="Tabs and code">
            <Tabs
              label="Tabs"
              tabs={[
                { name: "one", title: "One" },
                { name: "two", title: "Two" },
              ]}
              chosen={tab}
              onChoose={setTab}
            >
              <div className="pt-3">
                <Code text={`curl -X POST '${LONG}'`} label="Example" />
              </div>
            </Tabs>
          </Card>
          <Card title="Empty and loading">
            <Empty icon={Boxes} title="Nothing here">
              And what can be done about it.
            </Empty>
            <Skeleton className="mt-4" />
          </Card>
          <div className="min-w-0 lg:col-span-2">
            <Card title="Three ways to draw a node">
              <NodeAlternatives />
            </Card>
          </div>
          <div className="min-w-0 lg:col-span-2">
            <Table
              label="Rows"
              rows={ROWS}
              keyOf={({ id }) => id}
              columns={[
                { title: "Name", cell: ({ name }) => <span className="block truncate">{name}</span> },
                { title: "Amount", numeric: true, cell: ({ amount }) => amount },
              ]}
            />
          </div>
        </div>
        {open && (
          <Dialog
            title={LONG}
            onClose={() => setOpen(false)}
            actions={
              <Button variant="primary" onClick={() => setOpen(false)}>
                Done
              </Button>
            }
          >
            {LONG}
          </Dialog>
        )}
      </Page>
    </main>
  );
};
