import { type ComponentType, use } from 'react';

/** The error of a part whose files could not be loaded. */
export class NotLoaded extends Error {}

export interface LazyPart {
  /** The component. One call answers all others until `forget`. Rejects with `NotLoaded`. */
  readonly load: () => Promise<ComponentType>;
  /** The same, but never rejects: a failure is reported when the part is shown. */
  readonly preload: () => Promise<void>;
  /** Forgets a failed attempt to load, so that the next rendering makes another one. */
  readonly forget: () => void;
}

/** A part of the page in files of its own. Unlike React's `lazy`, it can be loaded again after a failure. */
export function lazyPart(load: () => Promise<ComponentType>): LazyPart {
  let loading: Promise<ComponentType> | undefined;
  const start = (): Promise<ComponentType> => {
    loading ??= load().catch((cause: unknown) => {
      throw new NotLoaded('The files of this part could not be loaded.', { cause });
    });
    return loading;
  };
  const forget = (): void => {
    loading = undefined;
  };
  return {
    load: start,
    preload: () => start().then(() => undefined, forget),
    forget,
  };
}

/** Renders a part. It suspends while the files are loading, and throws `NotLoaded` if they could not be loaded. */
export function Lazy({ part }: { readonly part: LazyPart }) {
  const Loaded = use(part.load());
  return <Loaded />;
}
