/** The largest text that is shown: larger ones cannot be compared by eye, and a browser takes seconds for them. */
const textBytesMax = 2 * 1_048_576;

/** The largest picture that is shown: about the size of a camera's. */
const pictureBytesMax = 20 * 1_048_576;

/** The picture formats that every browser shows. SVG is not among them: it is text that can contain scripts. */
const pictureTypes: Readonly<Record<string, string>> = {
  avif: 'image/avif',
  bmp: 'image/bmp',
  gif: 'image/gif',
  ico: 'image/x-icon',
  jpeg: 'image/jpeg',
  jpg: 'image/jpeg',
  png: 'image/png',
  webp: 'image/webp',
};

/** The media type of a file that browsers show as a picture by its name; undefined for others. */
export function pictureType(path: string): string | undefined {
  const [, extension = ''] = /[^/]\.([^./]+)$/.exec(path) ?? [];
  const name = extension.toLowerCase();
  return Object.hasOwn(pictureTypes, name) ? pictureTypes[name] : undefined;
}

/** The most bytes of a file of this name that are served for display. */
export function shownBytesMax(path: string): number {
  return pictureType(path) === undefined ? textBytesMax : pictureBytesMax;
}
