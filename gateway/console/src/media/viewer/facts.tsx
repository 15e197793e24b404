import type { ReactNode } from "react";
import type { ViewerItem } from "./store";
import { FACTS } from "../../messages/media";

const factsOf = ({ prompt, facts = [] }: ViewerItem): (readonly [string, string])[] => [
  ...(prompt === undefined ? [] : [[FACTS.prompt, prompt] as const]),
  ...facts,
];

const Fact = ({ name, children }: { name: string; children: ReactNode }) => (
  <div>
    <dt className="text-xs text-(--on-media)/60">{name}</dt>
    {children}
  </div>
);
const Value = ({ children }: { children: string | undefined }) => (
  <dd className="text-[13px] whitespace-pre-wrap wrap-anywhere">{children}</dd>
);

/** Origins of two compared outputs side by side, differences first. */
export const ComparedFacts = ({ a, b }: { a: ViewerItem; b: ViewerItem }) => {
  const [ofA, ofB] = [new Map(factsOf(a)), new Map(factsOf(b))];
  const names = [...new Set([...ofA.keys(), ...ofB.keys()])];
  const differing = names.filter((name) => ofA.get(name) !== ofB.get(name));
  const same = names.filter((name) => ofA.get(name) === ofB.get(name));
  return (
    <aside aria-label={FACTS.settingsOfAAndB} className="viewer-facts" tabIndex={0}>
      <h3 className="mb-2 font-semibold">{FACTS.differences}</h3>
      <dl className="flex flex-col gap-2">
        {differing.map((name) => (
          <Fact key={name} name={name}>
            {[["A", ofA.get(name)] as const, ["B", ofB.get(name)] as const].map(([letter, value]) => (
              <dd key={letter} className="flex gap-2 text-[13px]">
                <b className="shrink-0 font-semibold">{letter}</b>
                <span className="min-w-0 whitespace-pre-wrap wrap-anywhere">{value ?? "–"}</span>
              </dd>
            ))}
          </Fact>
        ))}
      </dl>
      {same.length > 0 && <h3 className="mt-4 mb-2 font-semibold">{FACTS.inCommon}</h3>}
      <dl className="flex flex-col gap-2">
        {same.map((name) => (
          <Fact key={name} name={name}>
            <Value>{ofA.get(name)}</Value>
          </Fact>
        ))}
      </dl>
    </aside>
  );
};

export const Facts = ({ item }: { item: ViewerItem }) => (
  <aside aria-label={FACTS.settings} className="viewer-facts">
    <h3 className="mb-2 font-semibold">{FACTS.settings}</h3>
    {factsOf(item).length === 0 && (
      <p className="text-[13px] text-(--on-media)/65">{item.facts === undefined ? FACTS.loading : FACTS.none}</p>
    )}
    <dl className="flex flex-col gap-2">
      {factsOf(item).map(([name, value]) => (
        <Fact key={name} name={name}>
          <Value>{value}</Value>
        </Fact>
      ))}
    </dl>
  </aside>
);
