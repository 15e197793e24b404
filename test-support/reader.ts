/** The content of a file, read by a library unrelated to ffmpeg. */
export interface Contents {
  seconds: number;
  video: { codec: string | null; width: number; height: number; frames: number; seconds: number } | null;
  audio: { codec: string | null; sampleRate: number; channels: number; seconds: number } | null;
}

export const contentsOf = async (bytes: Buffer): Promise<Contents> => {
  const { ALL_FORMATS, BufferSource, Input } = await import("mediabunny");
  const input = new Input({ formats: ALL_FORMATS, source: new BufferSource(bytes) });
  const [video, audio] = [await input.getPrimaryVideoTrack(), await input.getPrimaryAudioTrack()];
  return {
    seconds: await input.computeDuration(),
    video: video && {
      codec: video.codec,
      width: video.displayWidth,
      height: video.displayHeight,
      frames: (await video.computePacketStats()).packetCount,
      seconds: await video.computeDuration(),
    },
    audio: audio && {
      codec: audio.codec,
      sampleRate: audio.sampleRate,
      channels: audio.numberOfChannels,
      seconds: await audio.computeDuration(),
    },
  };
};
