import { useEffect, useMemo, useState } from "react";
import { lookUpFiles, renewed, useFiles } from "../../api/files";
import { sourcePort, targetPort, type NodePorts } from "../../canvas/ports";
import { settingAt, settingPath } from "../../canvas/setting-path";
import { edgesOf, type DocGraph, type DocNode } from "../../document/graph";
import { fileOf, filesIn, type OutputFile } from "../../media/files-in";
import { isOwnMedia, unsigned, type MediaFamily } from "../../media/url";
import { useLatestOutputs } from "../../runs/latest-outputs";
import { outputsOf } from "../../runs/outputs";
import { useDocument, useEditor, useScene } from "../context";
import type { NodeRunView } from "../scene/shown";
import { loadClip } from "./clip/load-clip";
import type { Picture } from "./picture";

/** Families of files that a tool edits. */
export type TouchedFamily = Exclude<MediaFamily, "model3d">;

interface Source {
  ports: NodePorts | undefined;
  view: NodeRunView | undefined;
  outputs: Readonly<Record<string, unknown>> | undefined;
}

const isShown = ({ url, family }: OutputFile, shownFamily: TouchedFamily): boolean => family === shownFamily && isOwnMedia(url);

/** Newest files at an input: those of its links' sources, in order. */
const filesAt = (graph: DocGraph, nodeId: string, port: string, sourceOf: (nodeId: string) => Source): OutputFile[] =>
  edgesOf(graph)
    .filter((edge) => edge.target === nodeId && targetPort(edge, sourceOf(nodeId).ports) === port)
    .flatMap((edge) => {
      const { ports, view, outputs } = sourceOf(edge.source);
      const name = sourcePort(edge, ports);
      if (outputs?.[name] !== undefined) return filesIn(outputs[name], name);
      return view?.items.flatMap(({ file }) => file ?? []) ?? [];
    });

/** Files of a family that an input of a node last received, or the file in its settings. */
export const useReceived = (node: DocNode, port: string, family: TouchedFamily): readonly OutputFile[] => {
  const { slug } = useEditor();
  const graph = useDocument((state) => state.graph);
  const shownNodes = useScene((state) => state.nodeViews);
  const ports = useScene((state) => state.ports);
  const latestOutputs = useLatestOutputs((state) => state[slug]);
  const files = useFiles((state) => state.files);
  const setting = settingAt(node, settingPath(node, port));
  const id = typeof setting === "string" ? setting : "";
  useEffect(() => {
    if (id !== "" && !id.startsWith("https:")) void lookUpFiles([id]);
  }, [id]);
  return useMemo(() => {
    const knownFile = files.get(id);
    const chosenFile = knownFile && fileOf(knownFile);
    if (chosenFile) return [chosenFile].filter((file) => isShown(file, family));
    const received = filesAt(graph, node.id, port, (source) => {
      const state = shownNodes.get(source);
      const progress = state?.isEarlier === false ? state.progress : undefined;
      const earlier = latestOutputs?.get(source);
      return { ports: ports.get(source), view: state, outputs: (progress && outputsOf(progress)) ?? (earlier && outputsOf(earlier.node)) };
    });
    return received.filter((file) => isShown(file, family));
  }, [graph, node.id, port, family, ports, shownNodes, latestOutputs, files, id]);
};

export type PictureState = { state: "loading" } | { state: "unreadable" } | { state: "ready"; picture: Picture };

const loadPicture = async (url: string): Promise<Picture> => {
  const image = new Image();
  image.src = url;
  await image.decode();
  return { url, width: image.naturalWidth, height: image.naturalHeight };
};

const load = (url: string, family: TouchedFamily): Promise<Picture> => (family === "image" ? loadPicture(url) : loadClip(url, family));

const sameFile = (one: string | undefined, other: string | undefined): boolean =>
  one === other || (one !== undefined && other !== undefined && unsigned(one) === unsigned(other));

/** Loads a picture, video or sound; an expired address is renewed once. A new signature of the same file doesn't load it again, which would end a drag. */
export const usePicture = (pictureUrl: string | undefined, family: TouchedFamily): PictureState => {
  const [url, setUrl] = useState(pictureUrl);
  if (!sameFile(url, pictureUrl)) setUrl(pictureUrl);
  const [loaded, setLoaded] = useState<{ url: string; as: PictureState }>();
  useEffect(() => {
    if (url === undefined) return;
    let isOver = false;
    load(url, family)
      .catch(async () => load(await renewed(url), family))
      .then(
        (picture): PictureState => ({ state: "ready", picture }),
        (): PictureState => ({ state: "unreadable" }),
      )
      .then((as) => !isOver && setLoaded({ url, as }))
      .catch(() => undefined);
    return () => {
      isOver = true;
    };
  }, [url, family]);
  return loaded?.url === url && loaded ? loaded.as : { state: "loading" };
};
