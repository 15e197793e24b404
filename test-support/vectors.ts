const NAMESPACE = "http://www.w3.org/2000/svg";

/** A vector image with some content. @param attributes of its root, instead of a view box */
export const svgOf = (content: string, attributes = 'viewBox="0 0 100 50"'): string =>
  `<svg xmlns="${NAMESPACE}" ${attributes}>${content}</svg>`;

export const SHAPE = '<rect width="10" height="10" fill="red"/>';
