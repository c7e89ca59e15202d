/** The address of each view of the menu, and its heading. */
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
] as const;

/** These, and the view that only the menu of the header leads to. */
export const allViews = [...views, { place: 'logins', heading: 'Logins' }] as const;
