/** The actions of users, with their relative frequencies. */
const habits = {
  create: 14,
  overwrite: 12,
  overwriteTwice: 4,
  append: 5,
  appendOften: 1,
  atomicSave: 7,
  remove: 5,
  recreate: 2,
  replaceAlike: 3,
  changePages: 3,
  renameFile: 7,
  renameOver: 3,
  renameCase: 2,
  swap: 2,
  renameDirectory: 5,
  copy: 2,
  makeTree: 5,
  unpack: 1,
  removeTree: 3,
  fileToDirectory: 2,
  directoryToFile: 2,
  chmod: 3,
  touch: 2,
  symlink: 3,
  moveOutAndIn: 2,
  pipe: 0.3,
  storeMapped: 8,
  writeElsewhere: 3,
  pass: 6,
} as const;

export type Habit = keyof typeof habits;

/** Users who keep disk images, and users without mappings and hard links outside the folder, differ in these habits. */
const imageHabits = { replaceAlike: 60 };
const noUnseenHabits = { storeMapped: 0, writeElsewhere: 0 };

/** The frequencies of actions for such a user. */
export function habitsOf(user: {
  readonly keepsImages: boolean;
  readonly mapsFiles: boolean;
}): Readonly<Record<Habit, number>> {
  return { ...habits, ...(user.keepsImages && imageHabits), ...(!user.mapsFiles && noUnseenHabits) };
}
