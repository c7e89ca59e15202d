import { useCallback, useState } from 'react';
import { sentenceOf } from '../live/use-api.ts';

/** The state of the last requested action. */
export type ActionState =
  | { readonly is: 'idle' }
  | { readonly is: 'running'; readonly text: string }
  | { readonly is: 'done'; readonly text: string }
  | { readonly is: 'failed'; readonly text: string };

export interface Action {
  readonly state: ActionState;
  /** Runs `ask`. The text is `doing` while it runs, and then the text that `ask` resolves with. */
  readonly run: (doing: string, ask: () => Promise<string>) => Promise<void>;
  readonly forget: () => void;
}

/** One request for an action of the agent at a time, and its result. */
export function useAction(): Action {
  const [state, setState] = useState<ActionState>({ is: 'idle' });
  const run = useCallback(async (doing: string, ask: () => Promise<string>) => {
    setState({ is: 'running', text: doing });
    try {
      setState({ is: 'done', text: await ask() });
    } catch (error) {
      setState({ is: 'failed', text: sentenceOf(error) });
    }
  }, []);
  const forget = useCallback(() => setState({ is: 'idle' }), []);
  return { state, run, forget };
}
