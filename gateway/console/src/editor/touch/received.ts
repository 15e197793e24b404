import { useEffect, useMemo, useState } from "react";
import { lookUpFiles, renewed, useFiles } from "../../api/files";
import { sourcePort, targetPort, type NodePorts } from "../../canvas/ports";
import { settingAt, settingPath } from "../../canvas/setting-path";
import { edgesOf, type DocGraph, type DocNode } from "../../document/graph";
import { fileOf, filesIn, type OutputFile } from "../../media/files-in";
import { isOwnMedia, unsigned } from "../../media/url";
import { useMade } from "../../runs/made";
import { outputsOf } from "../../runs/outputs";
import { useDocument, useEditor, useScene } from "../context";
import type { Shown } from "../scene/shown";

/** A picture that the page can show, in its own upright size. */
export interface Picture {
  url: string;
  width: number;
  height: number;
}

interface Source {
  ports: NodePorts | undefined;
  shown: Shown | undefined;
  outputs: Readonly<Record<string, unknown>> | undefined;
}

const isPicture = ({ url, family }: OutputFile): boolean => family === "image" && isOwnMedia(url);

/** Newest pictures at an input: those of its links' sources, in order. */
export const picturesAt = (graph: DocGraph, nodeId: string, port: string, sourceOf: (nodeId: string) => Source): OutputFile[] =>
  edgesOf(graph)
    .filter((edge) => edge.target === nodeId && targetPort(edge, sourceOf(nodeId).ports) === port)
    .flatMap((edge) => {
      const { ports, shown, outputs } = sourceOf(edge.source);
      const name = sourcePort(edge, ports);
      if (outputs?.[name] !== undefined) return filesIn(outputs[name], name);
      return shown?.items.flatMap(({ file }) => file ?? []) ?? [];
    })
    .filter(isPicture);

/** Pictures that an input of a node last received, or the file in its settings. */
export const useReceived = (node: DocNode, port: string): readonly OutputFile[] => {
  const { slug } = useEditor();
  const graph = useDocument((state) => state.graph);
  const shownNodes = useScene((state) => state.shown);
  const ports = useScene((state) => state.ports);
  const latestOutputs = useMade((state) => state[slug]);
  const files = useFiles((state) => state.files);
  const setting = settingAt(node, settingPath(node, port));
  const id = typeof setting === "string" ? setting : "";
  useEffect(() => {
    if (id !== "" && !id.startsWith("https:")) void lookUpFiles([id]);
  }, [id]);
  return useMemo(() => {
    const knownFile = files.get(id);
    const chosenFile = knownFile && fileOf(knownFile);
    if (chosenFile) return [chosenFile].filter(isPicture);
    return picturesAt(graph, node.id, port, (source) => {
      const state = shownNodes.get(source);
      const progress = state?.isEarlier === false ? state.progress : undefined;
      const earlier = latestOutputs?.get(source);
      return { ports: ports.get(source), shown: state, outputs: (progress && outputsOf(progress)) ?? (earlier && outputsOf(earlier.node)) };
    });
  }, [graph, node.id, port, ports, shownNodes, latestOutputs, files, id]);
};

export type Loaded = { state: "loading" } | { state: "unreadable" } | { state: "ready"; picture: Picture };

const load = async (url: string): Promise<Picture> => {
  const image = new Image();
  image.src = url;
  await image.decode();
  return { url, width: image.naturalWidth, height: image.naturalHeight };
};

const sameFile = (one: string | undefined, other: string | undefined): boolean =>
  one === other || (one !== undefined && other !== undefined && unsigned(one) === unsigned(other));

/** Loads a picture; an expired address is renewed once. A new signature of the same file doesn't load it again, which would end a drag. */
export const usePicture = (pictureUrl: string | undefined): Loaded => {
  const [url, setUrl] = useState(pictureUrl);
  if (!sameFile(url, pictureUrl)) setUrl(pictureUrl);
  const [loaded, setLoaded] = useState<{ url: string; as: Loaded }>();
  useEffect(() => {
    if (url === undefined) return;
    let isOver = false;
    load(url)
      .catch(async () => load(await renewed(url)))
      .then(
        (picture): Loaded => ({ state: "ready", picture }),
        (): Loaded => ({ state: "unreadable" }),
      )
      .then((as) => !isOver && setLoaded({ url, as }))
      .catch(() => undefined);
    return () => {
      isOver = true;
    };
  }, [url]);
  return loaded?.url === url && loaded ? loaded.as : { state: "loading" };
};
