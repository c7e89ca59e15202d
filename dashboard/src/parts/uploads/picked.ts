/** A file that a person picked, with the path that it is to have, relative to the directory that it goes to. */
export interface PickedFile {
  readonly path: string;
  readonly file: File;
}

/** The selection of a person who picked or dropped files. `directories`: the empty ones. */
export interface Picked {
  readonly files: readonly PickedFile[];
  readonly directories: readonly string[];
}

/** The files of an input; those of a whole directory have its name before their own. */
export function pickedBy(input: HTMLInputElement): Picked {
  const files = [...(input.files ?? [])].map((file) => ({ path: file.webkitRelativePath || file.name, file }));
  return { files, directories: [] };
}

/** The dropped files, and directories with their content. Call it while the event is handled: the browser forgets it afterwards. */
export async function dropped({ items }: DataTransfer): Promise<Picked> {
  const all = [...items]
    .filter(({ kind }) => kind === 'file')
    .map((item) => ({ entry: item.webkitGetAsEntry(), file: item.getAsFile() }));
  const files: PickedFile[] = [];
  const directories: string[] = [];
  for (const { entry, file } of all) {
    if (entry !== null) await gather(entry, entry.name, { files, directories });
    else if (file !== null) files.push({ path: file.name, file });
  }
  return { files, directories };
}

async function gather(
  entry: FileSystemEntry,
  path: string,
  into: { readonly files: PickedFile[]; readonly directories: string[] },
): Promise<void> {
  if (entry.isFile) {
    const file = await new Promise<File>((resolve, reject) => (entry as FileSystemFileEntry).file(resolve, reject));
    into.files.push({ path, file });
    return;
  }
  const reader = (entry as FileSystemDirectoryEntry).createReader();
  let count = 0;
  for (;;) {
    // Browsers give about a hundred at a time, and none at the end.
    const some = await new Promise<FileSystemEntry[]>((resolve, reject) => reader.readEntries(resolve, reject));
    if (some.length === 0) break;
    count += some.length;
    for (const each of some) await gather(each, `${path}/${each.name}`, into);
  }
  if (count === 0) into.directories.push(path);
}
