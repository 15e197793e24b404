import { lazy, Suspense } from "react";
import { isOwnMedia } from "../media/url";
import { Video } from "../media/video";
import { filesIn, valuesIn, type OutputFile } from "../media/files-in";
import { RESULT } from "../messages/visitor";

/** With the library that draws 3D models. */
const ModelView = lazy(async () => ({ default: (await import("../media/model3d/model-view")).ModelView }));

const nameOf = (url: string): string => new URL(url, location.origin).pathname.split("/").pop() ?? "file";

/** Shows a file without the console's icons. */
const Shown = ({ file: { url, family }, label }: { file: OutputFile; label: string }) => {
  if (!isOwnMedia(url) || family === undefined) return <p className="p-3 text-sm wrap-anywhere">{nameOf(url)}</p>;
  if (family === "image") return <img src={url} alt={label} loading="lazy" className="mx-auto max-h-[70vh] w-full object-contain" />;
  if (family === "video") return <Video way="player" url={url} label={label} className="w-full" />;
  if (family === "model3d")
    return (
      <Suspense fallback={null}>
        <ModelView url={url} label={label} className="mx-auto max-h-[70vh] w-full" />
      </Suspense>
    );
  return <audio src={url} controls preload="metadata" aria-label={label} className="w-full p-2" />;
};

/** Result of a run: files to view and download, and texts. */
export const Result = ({ result }: { result: Readonly<Record<string, unknown>> }) => {
  const files = filesIn(result);
  return (
    <div className="flex min-w-0 flex-col gap-3">
      {files.map((file, index) => (
        <figure key={`${file.url} ${index}`} className="m-0 min-w-0 overflow-hidden rounded-xl border bg-sunken">
          <Shown file={file} label={RESULT.result(index + 1)} />
          <figcaption className="border-t px-3 py-2 text-sm">
            <a
              href={file.url}
              download={nameOf(file.url)}
              target="_blank"
              rel="noopener noreferrer"
              className="inline-block py-1 text-accent-text underline underline-offset-2"
            >
              {RESULT.downloadResult(index + 1)}
            </a>
          </figcaption>
        </figure>
      ))}
      {valuesIn(result).map(([name, value]) => (
        <section key={name} aria-label={name} className="min-w-0">
          <h3 className="mb-1 text-xs font-medium text-muted">{name}</h3>
          <p dir="auto" className="rounded-xl border bg-sunken p-3 text-sm whitespace-pre-wrap wrap-anywhere">
            {typeof value === "string" ? value : JSON.stringify(value, undefined, 2)}
          </p>
        </section>
      ))}
    </div>
  );
};
