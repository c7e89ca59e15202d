/** Counters that other processes read: that of a directory is raised before a name in it becomes remote. */
export interface RemoteCounters {
  raise(directory: string): void;
}
