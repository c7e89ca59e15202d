/** Says that the file at `path` cannot be read and what to do; `code` is that of the system call, not ENOENT. ENXIO: it is no regular file. */
export function unreadableFile(path: string, code: string | undefined): string {
  if (code === 'EISDIR') return `${path} is a directory, and Lockstep needs a file there. Move it away and try again.`;
  if (code === 'ENXIO')
    return `${path} is not a regular file, and Lockstep needs one there. Move it away and try again.`;
  const isForbidden = code === 'EACCES' || code === 'EPERM';
  const hint = isForbidden ? 'Give this user the right to read it, or run as its owner.' : 'Check the disk.';
  return `${path} cannot be read (${code}). ${hint}`;
}
