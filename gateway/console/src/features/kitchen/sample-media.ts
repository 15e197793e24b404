/** Sample pictures, so that no file is needed. */
const SCENES = [
  ["#f5b66b", "#7a3b52", "#2b2244"],
  ["#8fc7d8", "#3c6f8c", "#16324a"],
  ["#d9c8a2", "#8a8f5f", "#3b4a35"],
] as const;

export const sampleMedia = (index: number): string => {
  const [sky, far, near] = SCENES[index % SCENES.length]!;
  const svg = `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 400 300"><rect width="400" height="300" fill="${sky}"/><circle cx="${110 + index * 80}" cy="92" r="36" fill="#fff6" /><path d="M0 200 90 120l80 70 90-100 140 130v80H0z" fill="${far}"/><path d="M0 300v-60l120-60 110 70 90-40 80 50v40z" fill="${near}"/></svg>`;
  return `data:image/svg+xml,${encodeURIComponent(svg)}`;
};
