/** The address of each view, and its heading. */
export const views = [
  { place: '', heading: 'Overview' },
  { place: 'health', heading: 'Health' },
  { place: 'latency', heading: 'Latency' },
  { place: 'files', heading: 'Files' },
  { place: 'operations', heading: 'Operations' },
  { place: 'conflicts', heading: 'Conflicts' },
  { place: 'transfers', heading: 'Transfers' },
  { place: 'problems', heading: 'Problems' },
  { place: 'settings', heading: 'Settings' },
  { place: 'logins', heading: 'Logins' },
] as const;
